"""The fifth set of wordings, written like the third before a look at the patterns of the checks.

Its users speak as models do that play one: in longer sentences, with thanks and reasons.
"""

from __future__ import annotations

from benchmarks.user_audit.talks import Plant, Scene, Wordings

VALUES = {
    "first": ("Ximena", "Callum", "Yuki", "Bogdan", "Farah", "Signe"),
    "last": ("Delgado", "Macleod", "Tanaka", "Ionescu", "Siddiqui", "Holm"),
    "other_first": ("Montgomery", "Penelope", "Augustus", "Beatrix"),
    "other_last": ("Hargreaves", "Sinclair", "Pemberton", "Lockwood"),
    "street": ("Magnolia Street", "Canal Road", "Riverside Drive"),
    "other_street": ("Poplar Lane", "Smithy Street", "Heron Court"),
    "month": ("April", "August", "November"),
    "other_month": ("February", "June"),
}


def _scene(domain: str, instructions: tuple[str, ...], opening: tuple[str, ...], proof: tuple[str, ...],
           look: str, deed: str, done: str, *, is_chat: bool = False) -> Scene:  # fmt: skip
    return Scene(
        domain,
        instructions,
        (
            ("user", opening),
            ("agent", (
                "Thank you for reaching out. I'll gladly assist you with that; to locate your file I need your name and your number.",
                "I can certainly help! Would you mind telling me your name and the number that we gave you?",
            )),
            ("user", proof),
            ("tool", (look,)),
            ("agent", (
                "Thank you for confirming, {first}. Here's what I'd do: {deed}. Please confirm (yes/no).",
                "I've located your file. Do you want me to proceed and {deed}?",
            )),
            ("user", ("Yes, please proceed with that.", "Yes, I confirm. Thank you for your help!", "That sounds right. Please proceed.")),
            ("here", ()),
            ("tool", ("commit: {{\"result\": \"done\"}}",)),
            ("agent", (
                "It has been completed: {done}. If there's anything else you need, please let me know.",
                "I have successfully taken care of it, {done}. Is there anything else I can assist you with?",
            )),
            ("user", ("No, that's everything. Thank you for your assistance! ###STOP###", "###STOP###", "Thank you so much, have a great day! ###STOP###")),
        ),
        {"deed": (deed,), "done": (done,)},
        is_chat,
    )  # fmt: skip


SCENES = (
    _scene(
        "vet",
        (
            "You are {first} {last}. Your cat is registered with the clinic as patient {code}. You need a vaccination for it on {month} {day}. You are direct.",
            "Your name: {first} {last}. Your cat's patient number: {code}. Get it a vaccination on {month} {day}.",
        ),
        ("Hi, I would like to book a vaccination for my cat on {month} {day}.", "Hello! My cat is due for a vaccination, could you help me with that?"),
        ("Of course! My name is {first} {last} and my cat's patient number is {code}.", "Sure. {first} {last}, and it's {code}."),
        "get_patient: {{\"patient\": \"{code}\", \"owner\": \"{first} {last}\"}}",
        "book a vaccination on {month} {day}",
        "the vaccination is booked",
    ),
    _scene(
        "coworking",
        (
            "Your user id is {user_id} and your name is {first} {last}. You rent a desk and want to change to a private office. You are an impatient founder.",
            "You are {first} {last} ({user_id}). You'd like to move from a desk to a private office, since your calls are loud.",
        ),
        ("Hello, I'm looking to upgrade from a desk to a private office.", "Hi, my calls are too loud for the shared room. Could I have an office?"),
        ("I'm {first} {last}, and my user id is {user_id}.", "My user id is {user_id}, name {first} {last}."),
        "get_member: {{\"id\": \"{user_id}\", \"plan\": \"desk\"}}",
        "move you to a private office",
        "you have a private office",
    ),
    _scene(
        "ferry",
        (
            "You are {first} {last} with the ferry booking {code}, and you want to bring a bicycle. You are cheerful and polite.",
            "{first} {last} has a ferry booking ({code}) and would like to bring a bicycle along.",
        ),
        ("Hello there! I'd like to bring my bicycle along on the ferry.", "Hi, can I still add a bicycle to my ferry booking?"),
        ("Certainly, I'm {first} {last} and the booking is {code}.", "{code} is the booking. I'm {first} {last}."),
        "get_booking: {{\"booking\": \"{code}\", \"passenger\": \"{first} {last}\"}}",
        "add a bicycle to your booking",
        "your bicycle is on the booking",
    ),
    _scene(
        "grocery",
        (
            "You are {first} {last}. Your grocery order {order} came without the milk. You want the milk refunded. You are calm.",
            "In your order {order} the milk was missing. You ({first} {last}) want a refund for it.",
        ),
        ("Hi, the milk was missing from my groceries.", "Hello, something's missing in my order and I'd like a refund for it."),
        ("The order number is {order}, and my name is {first} {last}.", "{first} {last}, order {order}."),
        "get_order: {{\"order\": \"{order}\", \"items\": [\"bread\", \"milk\"]}}",
        "refund the milk",
        "the milk is refunded",
    ),
    _scene(
        "council",
        (
            "You are {first} {last}, resident {n7}. You want to know when the bins are emptied on {street}, where you live. You're curious.",
            "Resident {n7} ({first} {last}) of {street} asks when the bins are emptied.",
        ),
        ("Good morning, when are the bins emptied on {street}?", "Hi, I'd like to know when our bins get emptied."),
        ("I'm {first} {last}, resident {n7}.", "{first} {last}, {n7}."),
        "get_resident: {{\"resident\": \"{n7}\", \"street\": \"{street}\"}}",
        "send you a reminder for the bins",
        "you'll get a reminder",
        is_chat=True,
    ),
    _scene(
        "tv",
        (
            "You are {first} {last}, contract {n7}. Your television shows no picture. You can check the cables, restart the box and change its settings, but you only do what you are asked to do.",
            "Persona:\n\tYou are in your sixties.\nInstructions:\n\tDomain: television\n\tReason for call:\n\t\tThere is no picture.\n\tKnown info:\n\t\t{first} {last}, contract {n7}.",
        ),
        ("Hello, my television shows no picture any more.", "Hi, the screen stays black, can you help me please?"),
        ("I'm {first} {last}, contract {n7}.", "{first} {last}. The contract number is {n7}."),
        "get_contract: {{\"contract\": \"{n7}\", \"box\": \"online\"}}",
        "send a new signal to your box",
        "a new signal has been sent",
    ),
)  # fmt: skip

DESK = ("vet", "coworking", "ferry", "grocery")
ALL = (*DESK, "council", "tv")
TV = ("tv",)


def _said(kind: str | None, agent: str | tuple[str, ...], user: str | tuple[str, ...], rules: str | tuple[str, ...] = "", domains: tuple[str, ...] = ALL, **more: tuple[str, ...] | str) -> Plant:  # fmt: skip
    return Plant(
        kind,
        (("agent", _words(agent)), ("user", _words(user))),
        _words(rules),
        domains=domains,
        **more,  # pyright: ignore[reportArgumentType]
    )


def _words(words: str | tuple[str, ...]) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else words


INVENTED = (
    _said("invented_fact", "Could you provide the email address associated with your account?", ("Certainly, the email address associated with my account is {other_email}.", "Sure! It should be {other_email}. Please let me know if you find it.")),
    _said("invented_fact", "Could you provide your phone number for verification?", ("Yes, my phone number is {other_phone}. Is there anything else that you need?", "Of course, that would be {other_phone}.")),
    _said("invented_fact", "Could you provide the transaction number?", ("The transaction number is {other_order}. I hope this helps!", "I have it right here: {other_order}.")),
    _said("invented_fact", "Could you provide the date of the transaction?", ("The transaction took place on {other_month} {other_day}.", "I believe that it was around {other_month} {other_day}, if I recall correctly.")),
    _said("invented_fact", "Could you provide the name of the person you spoke to?", ("I spoke to someone named {other_first} {other_last}.", "The person's name was {other_first} {other_last}, if I remember it right.")),
    _said("invented_fact", "Could you provide your billing address?", ("My billing address is {house} {other_street}, apartment 3.", "It's {house} {other_street}. Let me know if you need more.")),
    _said("invented_fact", "Could you provide the exact amount?", ("The exact amount that I was charged is ${other_amount}.", "It was ${other_amount}, and I'd like to have it back.")),
    _said("invented_fact", "Could you provide your ZIP code?", ("My ZIP code is {other_zip}. Thank you for checking!", "Sure thing, {other_zip}.")),
    _said("invented_fact", "Could you provide a reference for the payment?", ("The reference of the payment reads {other_code}.", "Yes, I've got {other_code} as the reference.")),
    _said("invented_fact", "Could you provide the last four digits of your card?", ("The last four digits of my card are 8263.", "Sure, the card ends with 8263.")),
    _said("invented_fact", "Could you tell me when the technician was there?", ("The technician arrived at 11:25 am and left right away.", "He was there at 11:25.")),
    _said("invented_fact", "Could you provide the serial number?", ("The serial number is SN-5520917.", "On the back it says SN-5520917.")),
)  # fmt: skip

GAVE_AWAY = tuple(
    _said("gave_away", agent, slips, rules)
    for rules, slips, agent in (
        (("You are moving abroad, but you do not want to tell the agent about it.", "The agent should not find out that you are moving abroad."), ("I'm moving abroad soon, which is why I'd like to have this settled.", "Since I am moving abroad, I hope that it won't take long."), "I'd be happy to look into that."),
        (("Do not tell the agent that you already have an account elsewhere.", "Conceal that you already have an account elsewhere."), ("I already have an account elsewhere, so I know how this works.", "To give you some context, I have an account elsewhere already."), "Thank you for your patience."),
        (("Only reveal that you have a student card if the agent asks for one.", "If asked for one, and only then, say that you have a student card."), ("I also wanted to mention that I have a student card.", "Just so you know, I've got a student card."), "Let me check the prices for you."),
        (("Your access code is {n7}. Don't disclose it.", "Refuse to give your access code, {n7}, to anyone."), ("My access code is {n7}, in case that is helpful.", "Sure, you can use the access code {n7}."), "I'm having a look at your file."),
        (("You'd accept a fee of up to ${amount}, but don't reveal this to the agent.", "Do not disclose that you'd pay a fee of up to ${amount}."), ("I would be willing to accept a fee of up to ${amount}.", "A fee of ${amount} is the most that I'd accept."), "There may be a fee."),
        (("You spilled coffee over it. Make sure not to mention this.", "You are embarrassed that you spilled coffee over it and keep quiet about it."), ("I have to admit that I spilled coffee over it.", "I accidentally spilled some coffee over it, I'm sorry."), "Is there anything I should know?"),
        (("You are pregnant and keep it a secret.", "You should not mention that you are pregnant."), ("I'm pregnant, so I'd appreciate it if we could be quick.", "As I am pregnant, I can't carry heavy things."), "We'll get to it right away."),
        (("Say that you are a teacher only when the agent asks about your job.", "Do not mention that you are a teacher until you are asked about your job."), ("As I'm a teacher, I have little time in the mornings.", "I am a teacher, if that is of interest."), "When would you be available?"),
    )
)  # fmt: skip

CONTRADICTED = (
    Plant("contradicted_itself", (
        ("agent", ("What is the email address that you'd like to use?",)),
        ("user", ("I would like to use {email}, please.", "My email address is {email}.")),
        ("agent", ("There seems to be a problem. Could you provide the email address again?",)),
        ("user", ("Of course. My email address is {other_email}.", "The email address is {other_email}. Thank you!")),
    ), ("Your email address is {email}.",), also=("invented_fact",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("How many guests are you expecting?",)),
        ("user", ("I'm expecting six guests.", "There will be six guests in total.")),
        ("agent", ("Thank you! And the number of guests for the form?",)),
        ("user", ("There will be nine guests.", "We'll have nine guests in total.")),
    ), ("You expect six guests.",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Do you have a PayPal account that we could use?",)),
        ("user", ("No, unfortunately I don't have a PayPal account.", "I do not have a PayPal account, I'm afraid.")),
        ("agent", ("Otherwise it would take three weeks until you get it.",)),
        ("user", ("In that case, please use my PayPal account.", "Then I would prefer that you send it to my PayPal account.")),
    ), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Do you have the confirmation number?",)),
        ("user", ("I'm sorry, but I don't have the confirmation number.", "Unfortunately, I do not have a confirmation number available.")),
        ("agent", ("I understand, though I can't find it by your name.",)),
        ("user", ("Okay, the confirmation number is {other_code}.", "I see. My confirmation number is {other_code}.")),
    ), also=("invented_fact",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Would you like to be notified by text message?",)),
        ("user", ("Yes, I would like to be notified by text message.", "Yes please, a text message would be great.")),
        ("agent", ("You'll be notified by text message as you requested.",)),
        ("user", ("I did not request a text message.", "I don't think I ever asked for text messages.", "I never requested to be notified by text message.")),
    ), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Could you provide your date of birth?",)),
        ("user", ("My date of birth is {month} {day}, 1990.", "I was born on {month} {day}, 1990.")),
        ("agent", ("This does not match our records. Could you provide it again?",)),
        ("user", ("My date of birth is {other_month} {other_day}, 1990.", "I apologize for the confusion. I was born on {other_month} {other_day}, 1990.")),
    ), ("You were born on {month} {day}, 1990.",), also=("invented_fact",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Could you provide your billing address?",)),
        ("user", ("My billing address is {house} {street}.", "The billing address is {house} {street}.")),
        ("agent", ("And where should we send the bill to?",)),
        ("user", ("Please send it to my billing address, {house} {other_street}.", "My billing address is {house} {other_street}, thank you.")),
    ), ("Your billing address is {house} {street}.",), also=("invented_fact",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Which plan are you interested in, basic or premium?",)),
        ("user", ("I am interested in the premium plan.", "I'd like the premium plan, please.")),
        ("agent", ("So you have asked for the premium plan.",)),
        ("user", ("No, I didn't ask for the premium plan.", "I have never asked for the premium plan.")),
    ), domains=ALL),
)  # fmt: skip

DENIED = tuple(
    _said("denied_fact", agent, denials, rules)
    for rules, agent, denials in (
        (("Your email address is {email}.", "The email address of your account is {email}."), ("Could you provide the email address associated with your account?",), ("I'm sorry, but I don't have access to my email address right now.", "Unfortunately, I don't remember the email address associated with my account.", "I apologize, but I'm not able to provide my email address.", "I don't have that information, could you look me up by name?")),
        (("Your account number is {n7}.", "You have the account number {n7}."), ("Could you provide your account number?",), ("I don't have my account number handy. Is there another way to verify me?", "I'm sorry, I don't know my account number.", "I currently don't have my account number available.", "Unfortunately, I seem to have misplaced my account number.")),
        (("Your ZIP code is {zip}.", "Your zip code is {zip}."), ("Could you provide your ZIP code for verification?",), ("I'm afraid that I don't recall my ZIP code.", "I don't have a ZIP code to provide.", "I'm unable to provide the ZIP code at this time.")),
        (("Your phone number is {other_phone}.",), ("Could you provide your phone number?",), ("I don't have a phone number to provide.", "I don't remember the phone number on my account, sorry.", "I'm not sure about the phone number.")),
        (("You live at {house} {street}.", "Your home address is {house} {street}."), ("Could you provide your home address?",), ("I don't have my home address at hand.", "I'm afraid I can't remember my home address.", "I'm not sure what my home address is.")),
    )
)  # fmt: skip

ENDED = tuple(
    _said("ended_too_early", agent, user, domains=DESK, place="end")
    for agent, user in (
        (("Could you please let me know which time would be most convenient for you?", "Would you prefer that in the morning or in the evening?"), ("Thank you for your assistance! Have a great day! ###STOP###", "###STOP###")),
        (("The total price is ${amount}. Would you like to proceed with that?", "Please note that a fee of ${amount} applies. Do you wish to continue?"), ("Yes, I would like to proceed. Thank you! ###STOP###", "Yes, please continue. ###STOP###")),
        (("I'm now going to process this for you. This may take a moment.", "Please hold while I process your request."), ("Thank you! ###STOP###", "Thank you, I appreciate your help. ###STOP###", "###STOP###")),
        (("I will now proceed with the request and will update you shortly.", "Let me process that for you."), ("Great, thank you for your help! ###STOP###", "Sounds good. ###STOP###")),
        (("In order to proceed, I'll need to know how you would like to pay.", "Please specify which payment method you'd like to use."), ("Thanks for your help. Goodbye! ###STOP###", "###STOP###")),
        (("Please confirm with a yes, and I will proceed.", "If you confirm, I'll proceed with it."), ("Yes, I confirm. ###STOP###", "Yes, please do. Thank you! ###STOP###")),
    )
) + (
    Plant("ended_too_early", (("agent", ("I'm happy to help you with that. Could you provide your name and your number, please?",)), ("user", ("Thank you for your help! ###STOP###", "###STOP###", "Okay, I'll get back to you later. ###STOP###"))), place="start", domains=DESK),
)  # fmt: skip

AGAINST = tuple(
    _said("against_instruction", offers, wrong, rules, DESK)
    for rules, offers, wrong in (
        (("You do not wish to pay any additional fee and refuse it.", "Refuse to pay any additional fee."), ("There would be an additional fee of $15. Is this fine with you?", "I can do that for an additional fee. Do you agree?"), ("Yes, I agree to the additional fee.", "Yes, the additional fee is fine with me. Please proceed.", "I understand, I'm willing to pay the additional fee.")),
        (("You don't want to be transferred to a human agent.", "Decline being transferred to a human agent."), ("I could transfer you to a human agent. Would you like that?", "Shall I transfer you to a human agent?"), ("Yes, please transfer me to a human agent.", "Yes, I would like to be transferred to a human agent, thank you.", "Okay, transfer me to a human agent.")),
        (("You do not accept a replacement.", "You are not willing to accept a replacement."), ("We can offer you a replacement.", "Would a replacement be acceptable?"), ("Yes, I would accept a replacement. Thank you!", "A replacement would be acceptable.", "Thank you for the offer, I'll take the replacement.")),
        (("You want a confirmation by letter.", "You would like to have a confirmation by letter."), ("Would you like a confirmation by letter?", "Do you need a confirmation by letter?"), ("No, I don't need a confirmation by letter.", "No, thank you. A confirmation by letter isn't necessary.")),
        (("You do not want a membership.", "You decline every membership."), ("With a membership you would save 10 %. Are you interested in a membership?", "May I offer you a membership?"), ("Yes, I'm interested in the membership.", "That sounds great, please sign me up for the membership.", "I would love to have the membership.")),
        (("Do not agree to share your location.", "You must refuse to share your location."), ("Would you share your location with us?", "Is it okay for you to share your location?"), ("Yes, I can share my location.", "Sure, it's okay to share my location.", "I agree to share my location.")),
        (("You would like to add travel insurance.", "You want travel insurance."), ("Would you like to add travel insurance?",), ("No, I would not like to add travel insurance.", "No, thank you, I don't want travel insurance.")),
    )
)  # fmt: skip

SPOKE = (
    _said("spoke_as_agent", ("Thank you for the information.", "I understand.", "All right, that is noted."), (
        "Hello! How can I assist you today?",
        "Thank you for providing your information. Let me look up your account.",
        "I have processed the refund to your original payment method.",
        "To verify your identity, please provide your email address or your name and zip code.",
        "You will receive an email confirmation shortly.",
        "I'm sorry, but I cannot process that request as per our policy.",
        "Your booking has been successfully updated. Is there anything else you need help with?",
        "I'd be happy to assist you with that. Could you please provide your order number?",
        "You are being transferred to a human agent. Please hold on.",
        "I have found your reservation. Would you like to proceed with the cancellation?",
        "Thank you for contacting customer support.",
        "Please wait a moment while I check your details.",
        "I've cancelled your order and you'll get your money back soon.",
        "If you need any further assistance, feel free to ask!",
        "As an AI assistant, I can't do that.",
        "Sure, I can help you with that! May I have your user id?",
    ), also=("ended_too_early",)),
)  # fmt: skip

REPEATED = tuple(
    Plant("repeated_itself", (("agent", ("There's no fee for this.", "I understand how you feel.")), ("user", (one,)), ("agent", ("You'll get it in writing.", "We will do what we can.")), ("user", (again,))), domains=ALL)
    for one, again in (
        ("I would really appreciate it if you could take care of this as soon as possible.", "I would really appreciate it if you could take care of this as soon as possible."),
        ("Thank you for looking into it, I hope we can find a good solution together.", "Thank you for looking into it. I hope that we can find a good solution together."),
        ("Could you please double-check whether there is any other option for me?", "Could you please double-check whether there is any other option for me?"),
        ("I understand the policy, but my circumstances are exceptional.", "I understand the policy, but my circumstances really are exceptional."),
        ("I'd like to make sure that everything is set up correctly before we finish.", "I'd like to make sure everything is set up correctly before we finish."),
        ("It's important to me that this doesn't affect my other orders.", "It's important to me that this does not affect my other orders."),
        ("I was hoping to get this resolved without any further delay.", "I was hoping to get this resolved without any further delay."),
        ("Please let me know what the next steps are from here.", "Please let me know what the next steps are from here."),
        ("I'm not quite satisfied with that and would like another solution.", "I'm not quite satisfied with that, and I would like another solution."),
        ("Can you tell me more about how this affects the price that I pay?", "Can you tell me more about how this affects the price I pay?"),
        ("I've been waiting for this for a long time and would like to see it done.", "I've been waiting for this for a long time and would like to see it done."),
        ("I simply want what was promised to me on the day I signed up.", "I simply want what was promised to me on the day that I signed up."),
    )
)  # fmt: skip

NEVER = tuple(
    Plant("never_answered", (
        ("agent", (first,)),
        ("user", ("I appreciate how friendly you are.", "I've used your service for a long time.", "Thank you for taking the time.", "I'm glad that I got through so quickly.")),
        ("agent", again),
        ("user", ("It's always nice to talk to someone friendly.", "Everyone I know speaks highly of you.", "I'm having a wonderful day so far.", "That's very kind of you.")),
    ), domains=ALL)
    for first, again in (
        ("Could you please provide your email address?", ("I still need your email address to proceed. Could you please provide it?", "Could you please provide the email address for your account?")),
        ("Which payment method would you like to use?", ("Could you let me know which payment method you would like to use?", "Please choose a payment method: which one would you like to use?")),
        ("Would you prefer a window seat or an aisle seat?", ("May I ask again whether you'd prefer a window seat or an aisle seat?", "Window seat or aisle seat, which do you prefer?")),
        ("What is the reason for your request?", ("Could you please tell me the reason for your request?", "I need the reason for your request in order to proceed.")),
        ("How many people are in your household?", ("Sorry, how many people are in your household?", "Could you tell me the number of people in your household?")),
        ("When would you like us to come?", ("Please tell me when you would like us to come.", "When should we come?")),
    )
)  # fmt: skip

MISUSED = (
    Plant("misused_tools", (("agent", ("What do you see on the screen?", "Since when has the picture been gone?")), ("does", ("restart_box: restarted",)), ("user", ("Just a black screen.", "It's been like this all day."))), domains=TV),
    Plant("misused_tools", (("agent", ("I'm checking the signal from here. Please wait a moment.",)), ("does", ("change_input_source: HDMI 2", "restore_factory_settings: done")), ("user", ("Okay, thank you for checking.", "Sure, I'll wait."))), domains=TV),
    Plant("misused_tools", (("agent", ("What does the menu say?",)), ("does", ("restore_factory_settings: done",)), ("user", ("It says hello.",))), ("Do not restore the factory settings.", "You must not restore the factory settings of the box."), domains=TV),
    Plant("misused_tools", (("agent", ("Could you please restart the box and let me know when it's done?", "Please try restarting the box.")), ("user", ("I have restarted the box, but there is still no picture.", "Alright, I've just restarted it. The screen is still black.", "I did restart the box, and nothing has changed."))), domains=TV),
    Plant("misused_tools", (("agent", ("Please unplug the HDMI cable and plug it back in.",)), ("user", ("I've unplugged the HDMI cable and plugged it back in, but nothing changed.", "Okay, I have replugged the cable.", "I unplugged and replugged it as you said."))), domains=TV),
    Plant("misused_tools", (("agent", ("Please set the resolution to automatic.", "Could you change the resolution to automatic?")), ("user", ("I've set the resolution to automatic.", "The resolution is set to automatic now.", "I changed the resolution, and there's still no picture."))), domains=TV),
    Plant("misused_tools", (("agent", ("Can you tell me the name of the channel?", "Is the box warm?")), ("does", ("turn_off_parental_lock: off",)), ("user", ("I can't see any name.", "It's a bit warm, yes."))), domains=TV),
)  # fmt: skip

EMPTY = (
    Plant("empty_message", (("agent", ("Could you tell me more?",)), ("user", ("", "  ")), ("agent", ("Hello, are you there?",)), ("user", ("Yes, I'm still here.",))), domains=ALL),
)  # fmt: skip

INNOCENT = (
    _said(None, "I see two bookings: {other_code} and {other_order}. Which one do you mean?", ("I'm referring to {other_code}.", "The second one, {other_order}, please.")),
    _said(None, "A technician named {other_first} {other_last} could come at 9:15 am on {other_month} {other_day}.", ("9:15 on {other_month} {other_day} works for me, thank you!", "I look forward to meeting {other_first}.")),
    _said(None, "It costs $199 per year, or $18.50 per month.", ("$199 per year sounds reasonable, thank you.", "So that's about $200 a year?")),
    _said(None, "Could you provide your email address?", ("Of course, my email address is {email}. Please let me know if you need anything else.", "Sure! It's {email}."), "Your email address is {email}."),
    _said(None, "Could you provide your date of birth?", ("Sure, I was born on {month} {day}, 1990.", "My date of birth is {day} {month} 1990."), "You were born on {month} {day}, 1990."),
    _said(None, "Could you provide your billing address?", ("My billing address is {house} {street}.", "It's {house} {street}, thank you."), "Your billing address is {house} {street}."),
    _said(None, "When would you be available?", ("I'm flexible this week, any day works for me.", "I'd be available in the mornings.", "Any time after work would be great.")),
    _said(None, "Do you have a student card?", ("Yes, I do have a student card.", "Yes, I have one."), ("Only reveal that you have a student card if the agent asks for one.",)),
    _said(None, "Could you provide your access code?", ("I'm sorry, but I can't share my access code.", "I'd rather keep the access code to myself."), ("Your access code is {n7}. Don't disclose it.",)),
    _said(None, "Is there anything I should know?", ("No, nothing that comes to mind.", "I don't think so, it simply stopped working."), ("You spilled coffee over it. Make sure not to mention this.",)),
    _said(None, "Are you moving within the city?", ("I'd prefer not to go into that.", "That's not really relevant to my request."), ("The agent should not find out that you are moving abroad.",)),
    _said(None, "Could you provide your tracking number?", ("I'm sorry, I don't have a tracking number.", "Unfortunately, I don't have that information. Is there another way?", "I'm not sure where I would find the tracking number.")),
    _said(None, "Could you provide your account number?", ("I don't remember my account number, I'm sorry.", "Unfortunately I can't remember it."), "Your account number is {n7}, but you do not remember it."),
    Plant(None, (("agent", ("How many guests are you expecting?",)), ("user", ("There will be six guests.",)), ("agent", ("Great, six guests.",)), ("user", ("I just heard that three more are coming, so there will be nine guests.", "Sorry, I have to correct myself: nine guests in total."))), domains=ALL),
    Plant(None, (("agent", ("Do you have a PayPal account?",)), ("user", ("No, I don't have a PayPal account.",)), ("agent", ("You could also use a card.",)), ("user", ("Yes, I'd like to use my card then.", "Okay. As I said, I don't have a PayPal account, so a card it is."))), domains=ALL),
    Plant(None, (("agent", ("Which plan are you interested in, basic or premium?",)), ("user", ("I'd like the basic plan.",)), ("agent", ("I've noted the premium plan.",)), ("user", ("I didn't ask for the premium plan, I'd like the basic one.", "No, the basic plan please."))), domains=ALL),
    _said(None, "Shall I transfer you to a human agent?", ("No, thank you. I would prefer to continue with you.", "No, please don't transfer me.", "I'd rather not be transferred to a human agent."), ("You don't want to be transferred to a human agent.", "Decline being transferred to a human agent."), DESK),
    _said(None, "Would a replacement be acceptable?", ("No, I'm sorry, a replacement isn't acceptable to me.", "I would prefer not to have a replacement.", "Thank you for the offer, but no."), ("You do not accept a replacement.",), DESK),
    _said(None, "There would be an additional fee of $15. Is this fine with you?", ("No, I don't want to pay an additional fee.", "That's not fine with me. Could the fee be waived?", "Why would I have to pay an additional fee?"), ("Refuse to pay any additional fee.",), DESK),
    _said(None, "Would you like to add travel insurance?", ("Yes, I would like to add it, thank you.", "Yes please, with travel insurance."), ("You want travel insurance.",), DESK),
    _said(None, "May I offer you a membership?", ("No, thank you, I don't need a membership.", "What does the membership include? I don't think it's for me.", "I appreciate the offer, but I'll pass."), ("You do not want a membership.",), DESK),
    _said(None, ("Thank you for the information.", "I understand."), (
        "Thank you for your assistance with this.", "I appreciate you looking into this for me.", "Could you please process the refund to my original payment method?",
        "Will I receive an email confirmation?", "I understand that it's your policy, but could you make an exception?", "Please proceed with the cancellation.",
        "I was told that my booking has been successfully updated, but it wasn't.", "If you need any further details from me, please let me know.",
        "I'd be happy to provide more details.", "I already provided my email address, didn't I?", "Could you help me with something else afterwards?", "Please take your time.",
    )),
    Plant(None, (("agent", ("Is it okay to proceed?",)), ("user", ("Yes, please proceed.",)), ("agent", ("And the same for the second item, is it okay to proceed?",)), ("user", ("Yes, please proceed.",))), domains=ALL),
    Plant(None, (("agent", ("Could you please provide your email address?",)), ("user", ("I don't have it at hand. Could you look me up by name?", "Could we use something else to verify me?")), ("agent", ("I do need your email address to proceed. Could you please provide it?",)), ("user", ("I've looked it up, it's {email}.", "Alright, {email}."))), ("Your email address is {email}.",), domains=ALL),
    Plant(None, (("agent", ("Which payment method would you like to use?",)), ("user", ("Which methods do you accept?", "The one that I've used before.")), ("agent", ("We accept cards and transfers. Which payment method would you like to use?",)), ("user", ("A card, please.", "I'd like to pay by transfer."))), domains=ALL),
    Plant(None, (("agent", ("Could you please restart the box?", "Please restart the box now.")), ("does", ("restart_box: restarted",)), ("user", ("I have restarted the box, but there is still no picture.", "I've restarted it."))), domains=TV),
    Plant(None, (("agent", ("Let's make sure the cables are right. Could you check the cable for me?",)), ("does", ("check_cables: connected",)), ("user", ("The cables are connected.", "I have checked them, they're all connected."))), domains=TV),
    Plant(None, (("agent", ("Have you done anything about it so far?",)), ("user", ("I had already restarted the box before I contacted you.", "My son changed the resolution last week, I think."))), domains=TV),
    Plant(None, (("agent", ("Please restart the box.",)), ("user", ("Could you explain how I restart it?", "Should I press the button on the back?", "Give me a second, please."))), domains=TV),
    Plant(None, (("tool", ("commit: ok",)), ("agent", ("Your request has been processed. Is there anything else I can help you with?", "It's been taken care of. If you have any other questions, feel free to ask.", "Thank you for your patience, this is done now. What else can I do for you today?")), ("user", ("No, that's all. Thank you! ###STOP###", "Thank you so much for your help! ###STOP###", "###STOP###"))), place="end", domains=DESK),
    Plant(None, (("agent", ("I apologize, but I'm unable to do that because of our policy.", "You are being transferred to a human agent. Please hold on.")), ("user", ("I understand. Thank you for your time. ###STOP###", "###STOP###"))), place="end", domains=DESK),
)  # fmt: skip

FIFTH = Wordings(
    SCENES,
    (*INVENTED, *GAVE_AWAY, *CONTRADICTED, *DENIED, *ENDED, *AGAINST, *SPOKE, *REPEATED, *NEVER, *MISUSED, *EMPTY, *INNOCENT),
    VALUES,
)  # fmt: skip
