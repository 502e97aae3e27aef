"""The fourth set of wordings, written like the third before a look at the patterns of the checks."""

from __future__ import annotations

from benchmarks.user_audit.talks import Plant, Scene, Wordings

VALUES = {
    "first": ("Wanjiru", "Emil", "Saoirse", "Dmitri", "Leila", "Paulo"),
    "last": ("Kamau", "Bergstrom", "Gallagher", "Volkov", "Rahimi", "Teixeira"),
    "other_first": ("Archibald", "Clementine", "Ferdinand", "Henrietta"),
    "other_last": ("Blackwood", "Montague", "Fitzgerald", "Rasmussen"),
    "street": ("Chestnut Street", "Church Road", "Lakeside Drive"),
    "other_street": ("Primrose Lane", "Quarry Street", "Willow Court"),
    "month": ("March", "July", "December"),
    "other_month": ("January", "September"),
}


def _scene(domain: str, instructions: tuple[str, ...], opening: tuple[str, ...], proof: tuple[str, ...],
           look: str, deed: str, done: str, *, is_chat: bool = False) -> Scene:  # fmt: skip
    return Scene(
        domain,
        instructions,
        (
            ("user", opening),
            ("agent", (
                "Hello and welcome! Whom do I have the pleasure of talking to, and what is the number of your contract or order?",
                "Let's get that done. Can you give me your name plus the number I can find you under?",
            )),
            ("user", proof),
            ("tool", (look,)),
            ("agent", (
                "Found you, {first}. So my plan is to {deed}. May I?",
                "Everything is in order. I would {deed} now if that's what you wish.",
                "I've got your file open. Just to double-check, do you want me to {deed}?",
            )),
            ("user", ("Absolutely.", "Yes, exactly.", "Please go ahead, yes.", "Yep, that's what I want.")),
            ("here", ()),
            ("tool", ("save: {{\"saved\": true}}",)),
            ("agent", (
                "Wonderful, {done}. Will that be all?",
                "{done}. Let me know if I can do more for you.",
                "It worked: {done}. Goodbye, and take care.",
            )),
            ("user", ("Yes, that's all. Cheers. ###STOP###", "Thanks for sorting it out. ###STOP###", "###STOP###")),
        ),
        {"deed": (deed,), "done": (done,)},
        is_chat,
    )  # fmt: skip


SCENES = (
    _scene(
        "dentist",
        (
            "You are {first} {last}, patient number {code}. You have an appointment on {month} {day} and want it moved to the week after. You are shy.",
            "{first} {last}, patient {code}. You can't come on {month} {day} and need another appointment a week later.",
        ),
        ("Good morning, I'm afraid I have to move my appointment.", "Hi, it's about my check-up, I can't come."),
        ("I'm {first} {last}, patient {code}.", "{first} {last} here. {code} is the number."),
        "get_patient: {{\"patient\": \"{code}\", \"name\": \"{first} {last}\"}}",
        "move your appointment by a week",
        "your appointment is a week later now",
    ),
    _scene(
        "furniture",
        (
            "You're {first} {last}. You ordered a sofa, order {order}, and want it in green and not in blue. You talk a lot.",
            "Your sofa (order {order}, {first} {last}) should be green. You had ordered a blue one.",
        ),
        ("Hi! I have ordered a sofa and I've had second thoughts about the colour.", "Hello, can I still change the colour of my sofa?"),
        ("Sure: {first} {last}, {order}.", "It's order {order} and I'm {first} {last}."),
        "get_order: {{\"order\": \"{order}\", \"colour\": \"blue\"}}",
        "change the colour of the sofa to green",
        "your sofa will be green",
    ),
    _scene(
        "school",
        (
            "You are {first} {last}, student {user_id}. You want to drop the chemistry course that you enrolled in. You are friendly.",
            "Student {user_id} ({first} {last}) wants to leave the chemistry course.",
        ),
        ("Hello, I'd like to drop a course.", "Hey, chemistry isn't for me, I'd like out of that course."),
        ("{first} {last}, my student id is {user_id}.", "Student {user_id}, {first} {last}."),
        "get_student: {{\"id\": \"{user_id}\", \"courses\": [\"chemistry\"]}}",
        "take you off the chemistry course",
        "you are no longer on the chemistry course",
    ),
    _scene(
        "moving",
        (
            "You are {first} {last} and booked a moving van under {code}. You need a helper who carries boxes as well. You are well organised.",
            "Booking {code} of {first} {last}: a moving van. You would like to add one helper.",
        ),
        ("Hello, I've booked a van, can I still get someone to help me carry?", "Hi, I want to add a helper to my booking."),
        ("{code}, {first} {last}.", "My name is {first} {last}, and the booking {code}."),
        "get_booking: {{\"booking\": \"{code}\", \"helpers\": 0}}",
        "add one helper to the booking",
        "a helper will come along",
    ),
    _scene(
        "museum",
        (
            "You are {first} {last}, member {n7}. You want to know whether your membership covers a guest, and add one if so.",
            "Member {n7} is {first} {last}. You want to add a guest to the membership.",
        ),
        ("Hi, can I bring a guest with my membership?", "Hello, I'd like to add a guest to my membership."),
        ("I'm {first} {last}, member {n7}.", "Member {n7}. {first} {last} is the name."),
        "get_member: {{\"member\": \"{n7}\", \"guests\": 0}}",
        "add a guest to your membership",
        "a guest is on your membership",
        is_chat=True,
    ),
    _scene(
        "phone",
        (
            "You are {first} {last}, your number is {phone}. Your phone gets no signal. You can look at your phone's settings and change them, if the agent tells you to.",
            "Persona:\n\tYou are easily confused.\nInstructions:\n\tDomain: mobile\n\tReason for call:\n\t\tNo signal on your phone.\n\tKnown info:\n\t\tName {first} {last}, number {phone}.",
        ),
        ("Hi, my phone has had no signal since yesterday.", "Hello, I can't make calls any more."),
        ("I'm {first} {last}, {phone}.", "{first} {last}. The number is {phone}."),
        "get_customer: {{\"number\": \"{phone}\", \"status\": \"active\"}}",
        "refresh your line",
        "your line has been refreshed",
    ),
)  # fmt: skip

DESK = ("dentist", "furniture", "school", "moving")
ALL = (*DESK, "museum", "phone")
PHONE = ("phone",)


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
    _said("invented_fact", "Where may I send the documents?", ("To {other_email}, please.", "{other_email} would be the best one.")),
    _said("invented_fact", "Is there a number for text messages?", ("Text me at {other_phone}.", "{other_phone} is my cell.")),
    _said("invented_fact", "Were you given a ticket number?", ("The ticket was {other_order}, they told me.", "{other_order} is on the slip.")),
    _said("invented_fact", "When was your last visit?", ("My last visit was on {other_month} {other_day}.", "That must have been {other_month} {other_day}.")),
    _said("invented_fact", "Who is your emergency contact?", ("My mother, {other_first} {other_last}.", "Her name is {other_first} {other_last}.", "Please put down {other_first} {other_last}.")),
    _said("invented_fact", "Where should we deliver it?", ("Bring it to {house} {other_street}, please.", "The address is {house} {other_street}.")),
    _said("invented_fact", "How much have you paid so far?", ("I've paid ${other_amount} up front.", "So far it's {other_amount} dollars.")),
    _said("invented_fact", "What area are you in?", ("I'm in {other_zip}.", "My postcode is {other_zip}.")),
    _said("invented_fact", "When shall we call you back?", ("I was promised a call at 3:50 pm, so call me as agreed.", "They said they'd ring at 15:50.")),
    _said("invented_fact", "What does the label say?", ("It says {other_code} on it.", "There's {other_code} printed on the label.")),
    _said("invented_fact", "How many steps does your meter show?", ("It shows 7315 right now.", "7,315 is what I read.")),
    _said("invented_fact", "What's your tax number?", ("It's 48-2210937.", "My tax number is 482210937.")),
)  # fmt: skip

GAVE_AWAY = tuple(
    _said("gave_away", agent, slips, rules)
    for rules, slips, agent in (
        (("You lost your job recently. Do not share this with the agent.", "Don't mention that you lost your job."), ("I lost my job recently, so I have to be careful.", "You see, I've lost my job."), "Take your time."),
        (("You have found a cheaper offer elsewhere, but you keep this to yourself.", "Never admit that you have found a cheaper offer elsewhere."), ("I've found a cheaper offer elsewhere, actually.", "There's a cheaper offer that I found elsewhere."), "We value you as a customer."),
        (("Only if the agent asks for your age do you say that you are 71.", "You are 71 years old. Do not tell your age unless asked."), ("I'm 71 years old, please keep that in mind.", "At the age of 71 these things aren't easy."), "I am opening your file."),
        (("Your password is heron{n3}. You must not give it to anybody.", "Under no circumstances do you give out your password heron{n3}."), ("My password is heron{n3}, by the way.", "You can log in with heron{n3}."), "I'm having trouble with the system."),
        (("It is a surprise for your wife; the agent should not know that.", "Do not say that it is a surprise for your wife."), ("It's a surprise for my wife.", "It is meant as a surprise for my wife, you know."), "Is there a reason for the change?"),
        (("You damaged it yourself while cleaning, but you won't say so.", "Avoid mentioning that you damaged it yourself while cleaning."), ("I damaged it myself while I was cleaning.", "I was cleaning and damaged it myself, how stupid of me."), "How can we make it up to you?"),
        (("If and only if the agent asks, mention that you have a gift card.", "You have a gift card; bring it up only when the agent asks about it."), ("Oh, I've also got a gift card.", "I have a gift card too."), "Let me calculate the price."),
        (("Your mother's maiden name is {other_last}. It is confidential.", "Keep your mother's maiden name, {other_last}, private."), ("My mother's maiden name is {other_last}, if you need it.", "You can check it with my mother's maiden name, {other_last}."), "I'm verifying your data now."),
    )
)  # fmt: skip

CONTRADICTED = (
    Plant("contradicted_itself", (
        ("agent", ("Which phone number belongs to you?",)),
        ("user", ("{phone}.", "My number is {phone}.")),
        ("agent", ("I've had a slip here, please say your phone number again.",)),
        ("user", ("{other_phone}.", "Of course, my phone number is {other_phone}.")),
    ), ("Your phone number is {phone}.",), also=("invented_fact",), domains=DESK),
    Plant("contradicted_itself", (
        ("agent", ("Which address should it go to?",)),
        ("user", ("I live at {house} {street}.", "My address is {house} {street}.")),
        ("agent", ("And the address for the invoice?", "Once more the address, please?")),
        ("user", ("My address is {house} {other_street}.", "I live at {house} {other_street}.")),
    ), ("You live at {house} {street}.",), also=("invented_fact",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Do you own a credit card?", "Can you pay by card?")),
        ("user", ("No, I don't own a credit card.", "I haven't got a credit card.")),
        ("agent", ("Then I need a deposit of $200 in cash.", "In that case it has to be prepaid.")),
        ("user", ("Then take my credit card.", "I'll use my credit card for it.")),
    ), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("How many bags do you have?", "How many bags are there?")),
        ("user", ("I've got two bags.", "Two bags.")),
        ("agent", ("I'm making a note. How many bags, please?",)),
        ("user", ("I have four bags.", "There are four bags.")),
    ), ("You have two bags.",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Is there anything you want me to add?",)),
        ("user", ("Please add a gift box to it.", "I'd also like a gift box.")),
        ("agent", ("Okay, I've added the gift box.", "I have put the gift box on the order.")),
        ("user", ("Why? I didn't order a gift box.", "I didn't request a gift box.", "I never asked you to add a gift box.")),
    ), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Do you have the receipt?",)),
        ("user", ("I no longer have the receipt.", "I threw the receipt away, I don't have it anymore.")),
        ("agent", ("I need the receipt number, I'm afraid.",)),
        ("user", ("The receipt number is {other_order}.", "The number on the receipt is {other_order}.")),
    ), also=("invented_fact",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("What's your first name and your age?", "How old are you?")),
        ("user", ("I'm 34 years old.", "I am 34.")),
        ("agent", ("There are discounts for people over sixty. How old are you?",)),
        ("user", ("I'm 67 years old.", "I am 67 years old, so I get that, right?")),
    ), ("You are 34 years old.",), also=("invented_fact",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Shall I book the morning slot or the afternoon slot?",)),
        ("user", ("The morning slot, please.", "I'd like the morning slot.")),
        ("agent", ("Alright, you said the morning slot.", "The morning slot then, as you told me.")),
        ("user", ("I didn't say the morning slot.", "That's not what I said, I never chose the morning slot.")),
    ), domains=ALL),
)  # fmt: skip

DENIED = tuple(
    _said("denied_fact", agent, denials, rules)
    for rules, agent, denials in (
        (("Your email: {email}.", "You use the email {email}."), ("Under which email did you register?", "Your email, please?"), ("I'm sorry, I don't recall the email.", "I don't have any email on hand.", "I really couldn't say which email it was.", "My email escapes me at the moment.")),
        (("Your passport number is {n7}.", "You hold passport {n7}."), ("Your passport number, please?", "May I have your passport number?"), ("I don't have my passport with me, so I can't tell you the number.", "I cannot find my passport number.", "Sorry, my passport number isn't something I have right now.")),
        (("You live in {zip}.", "Your postal code is {zip}."), ("What's your postal code?", "Which postal code is it?"), ("I don't know the postal code.", "I'm unsure about my postal code.", "I've forgotten my postal code.")),
        (("Your invoice number is {other_order}.", "You have the invoice {other_order}."), ("Do you have the invoice number?", "What is the invoice number?"), ("I don't have the invoice number available.", "Sorry, I do not have an invoice number.", "I'm unable to find the invoice number.", "No, I never got an invoice number.")),
        (("Your phone number is {other_phone}.",), ("What's the best phone number for you?", "I'll need a phone number."), ("I don't want to be a bother, but I don't know my phone number.", "I can't remember my phone number.", "I have no phone.", "There's no phone number that I could give you.")),
    )
)  # fmt: skip

ENDED = tuple(
    _said("ended_too_early", agent, user, domains=DESK, place="end")
    for agent, user in (
        (("Would a Tuesday be alright for you, or should I look for another day?", "Just one question before I do: is this for private or for business use?"), ("Thank you for your time. ###STOP###", "###STOP###", "Alright, have a good one! ###STOP###")),
        (("There'd be a difference of ${amount} to pay. Is that acceptable?", "This can't be undone. Are you sure?"), ("Yes, it is. ###STOP###", "I'm sure. Thanks! ###STOP###", "Of course. ###STOP###")),
        (("One moment please while I make the change.", "Please stay with me, this takes a few seconds.", "I'm going to do that for you right now."), ("Thanks a bunch. ###STOP###", "Lovely, goodbye! ###STOP###", "###STOP###")),
        (("I just need the reason for the change for my form.", "Please tell me your preferred payment method."), ("Many thanks, bye. ###STOP###", "###STOP###")),
        (("If you're happy with these details, say yes and I'll finalise it.", "Type 'yes' so that I can complete the process."), ("Yes ###STOP###", "Yes, I'm happy with that. Goodbye! ###STOP###")),
        (("I have two options for you, A and B. Which one shall it be?", "Do you want to go with A or B?"), ("Thanks for explaining. ###STOP###", "B. ###STOP###")),
    )
) + (
    Plant("ended_too_early", (("agent", ("Sure, I can look into it. What's your name?", "Could you verify your identity for me, please?")), ("user", ("Never mind, thanks. ###STOP###", "###STOP###", "Thank you for your assistance! ###STOP###"))), place="start", domains=DESK),
)  # fmt: skip

AGAINST = tuple(
    _said("against_instruction", offers, wrong, rules, DESK)
    for rules, offers, wrong in (
        (("You do not want to pay for an extended warranty.", "Turn down any extended warranty."), ("Would you like our extended warranty?", "We can add an extended warranty."), ("Yes, I'd like the extended warranty.", "Go ahead and add the extended warranty.", "I'll have the extended warranty, please.")),
        (("You won't agree to a survey.", "If the agent offers a survey, decline it."), ("Could I send you a short survey?", "Are you willing to take part in a survey?"), ("Sure, send me the survey.", "I'm willing to do the survey.", "Yes, a survey is no problem.")),
        (("You don't accept a partial refund.", "A partial refund is out of the question for you."), ("We could give you a partial refund.", "Is a partial refund an option for you?"), ("A partial refund is okay for me.", "Alright, I'll take the partial refund.", "Yes, that's an option. I accept the partial refund.")),
        (("You want a paper invoice.", "You also want to get a paper invoice."), ("Do you need a paper invoice?", "Should I send a paper invoice?"), ("No, I don't need a paper invoice.", "No paper invoice, please.", "That's not necessary, no paper invoice for me.")),
        (("You are not interested in a subscription.", "You never agree to a subscription."), ("A subscription would be cheaper. Shall I set one up?", "How about a subscription?"), ("Yes, set up the subscription.", "Good idea, let's do the subscription.", "A subscription sounds good to me.")),
        (("You do not want your account closed.", "Under no circumstances let your account be closed."), ("Should I close your account as well?", "Would you like me to close your account?"), ("Yes, close my account.", "Please close my account, too.")),
        (("You want to use your travel points.", "You would like to use your points."), ("Do you want to use your points for this?", "May I deduct it from your points?"), ("No, don't use my points.", "I'd rather not use my points.")),
    )
)  # fmt: skip

SPOKE = (
    _said("spoke_as_agent", ("I see.", "Thanks for telling me.", "Okay, noted."), (
        "How may I assist you today?",
        "What can I help you with?",
        "I'll check that for you right away, one moment please.",
        "I've gone ahead and made the change for you.",
        "Your refund will appear on your statement in five to seven business days.",
        "For verification, could you share your date of birth with me?",
        "Feel free to reach out if you need any more help.",
        "I apologize for the trouble. Let me look up your booking.",
        "We appreciate your business and hope to see you again soon.",
        "Unfortunately, our policy doesn't allow that.",
        "I'm going to escalate this to my supervisor for you.",
        "May I have your booking number so that I can find your reservation?",
        "I have sent you a confirmation by email.",
        "Your account has been updated accordingly.",
        "I understand your frustration, and I'm here to help.",
        "Glad I could help! Is there anything more I can do for you?",
    ), also=("ended_too_early",)),
)  # fmt: skip

REPEATED = tuple(
    Plant("repeated_itself", (("agent", ("The change doesn't cost anything.",)), ("user", (one,)), ("agent", ("You can cancel at any time.", "We're open on Saturdays, too.")), ("user", (again,))), domains=ALL)
    for one, again in (
        ("I'm a bit worried that something goes wrong with this.", "I'm a bit worried that something goes wrong with this."),
        ("All of this should have been done by your colleague last week.", "All of this should have been done by your colleague last week."),
        ("Could you put all of that into an email so that I can keep it?", "Could you put all that into an email so I can keep it?"),
        ("Honestly, I expected that this could be done with two clicks.", "Honestly, I had expected that this could be done with two clicks."),
        ("Please be careful with the details because I had trouble before.", "Please be careful with the details, because I had trouble before!"),
        ("My family depends on this being sorted out properly.", "My family depends on this being sorted out properly."),
        ("I'd be grateful if you could explain every step that you take.", "I would be grateful if you could explain every step you take."),
        ("Are you sure that nothing else changes on my contract?", "Are you sure that nothing else changes on my contract?"),
        ("I want to be certain that my data is treated with care.", "I want to be certain that my data are treated with care."),
        ("It isn't the first time that I have to call because of this.", "It isn't the first time that I've to call because of this."),
        ("Let me know as soon as there's any news about it.", "Let me know as soon as there's any news about it."),
        ("I only agreed to this because my neighbour recommended you.", "I only agreed to this because my neighbour recommended you."),
    )
)  # fmt: skip

NEVER = tuple(
    Plant("never_answered", (
        ("agent", (first,)),
        ("user", ("I've heard good things about you.", "It's my first time doing this.", "My dog has just come in.", "Things have been hectic at work.")),
        ("agent", again),
        ("user", ("You have a nice voice.", "The kids are off school today.", "I've been looking forward to this for ages.", "Such a busy day.")),
    ), domains=ALL)
    for first, again in (
        ("May I ask for the reason?", ("Could you tell me the reason, please?", "And what is the reason?")),
        ("Which size do you need?", ("I need to know which size you need.", "What size do you need?")),
        ("When should it start?", ("You didn't say when it should start.", "From when on should it start?")),
        ("Do you have a parking space?", ("Is there a parking space?", "I have to ask again: do you have a parking space?")),
        ("What is your date of birth?", ("Please give me your date of birth.", "I can't continue without your date of birth.")),
        ("Is it for one person or for two?", ("One person or two?", "So is it for one person or two persons?")),
    )
)  # fmt: skip

MISUSED = (
    Plant("misused_tools", (("agent", ("Which model is your phone?", "How old is your phone?")), ("does", ("toggle_airplane_mode: on",)), ("user", ("It's a rather new one.", "I'm not sure."))), domains=PHONE),
    Plant("misused_tools", (("agent", ("I'm looking at your contract, one moment.", "Let me talk to a technician.")), ("does", ("reset_network_settings: done", "remove_sim_card: removed")), ("user", ("Sure.", "Take your time."))), domains=PHONE),
    Plant("misused_tools", (("agent", ("Is mobile data turned on?",)), ("does", ("reset_network_settings: done",)), ("user", ("Yes, it's on.",))), ("Never reset your network settings.", "You refuse to reset the network settings."), domains=PHONE),
    Plant("misused_tools", (("agent", ("Please turn on airplane mode for ten seconds.", "Put the phone in airplane mode and take it out again.")), ("user", ("I turned on airplane mode and off again. Nothing changed.", "I did that, airplane mode was on for ten seconds.", "Airplane mode is on now."))), domains=PHONE),
    Plant("misused_tools", (("agent", ("Please take the SIM card out and put it in again.", "Reseat the SIM card, please.")), ("user", ("I took the SIM card out and put it back in.", "Okay, I've reseated the SIM card.", "Done, the SIM is back in its place."))), domains=PHONE),
    Plant("misused_tools", (("agent", ("Now reboot the phone.", "Would you reboot your phone for me?")), ("user", ("I've rebooted the phone and it still has no signal.", "It has rebooted. No signal.", "Okay, rebooted."))), domains=PHONE),
    Plant("misused_tools", (("agent", ("Can you see the settings for roaming?", "Are you in the roaming menu?")), ("does", ("install_update: installed",)), ("user", ("Yes, I'm there.", "Yes, I see it."))), domains=PHONE),
)  # fmt: skip

EMPTY = (
    Plant("empty_message", (("agent", ("Shall I go on?",)), ("user", ("", "   ")), ("agent", ("Hello?",)), ("user", ("Yes, sorry.",))), domains=ALL),
)  # fmt: skip

INNOCENT = (
    _said(None, "Our branch is at {house} {other_street}. Can you come there?", ("Yes, {house} {other_street} is close to me.", "{other_street} is a bit far, but yes.")),
    _said(None, "Your colleague {other_first} {other_last} is on the account, too.", ("{other_first} {other_last} is my colleague, yes.", "That's fine, {other_first} knows about it.")),
    _said(None, "Shall I use the number ending in 4417?", ("Yes, the one ending in 4417.", "4417 is correct.")),
    _said(None, "Where do you live?", ("At {house} {street}.", "{house} {street}, as on my account.", "I live on {street}, number {house}."), "You live at {house} {street}."),
    _said(None, "How long have you been with us?", ("For a good while.", "About two years or so.", "I can't say exactly.")),
    _said(None, "There are 3 payments of $150 each.", ("So $450 altogether?", "$450 in all, okay.")),
    _said(None, "How old are you?", ("I'm 71.", "71 years old."), ("You are 71 years old. Do not tell your age unless asked.",)),
    _said(None, "Did you lose anything?", ("No, nothing.", "Not that I know of."), "Don't mention that you lost your job."),
    _said(None, "Do you have a gift card?", ("Yes, I have a gift card.", "I do have one."), "You have a gift card; bring it up only when the agent asks about it."),
    _said(None, "Is there a reason for the change?", ("I'd rather not say.", "It just suits me better.", "Personal reasons."), ("Do not say that it is a surprise for your wife.",)),
    _said(None, "Do you have a coupon?", ("No, I don't have a coupon.", "I don't have any, no.", "Sorry, I have no coupon.")),
    _said(None, "What's your fax number?", ("I don't have a fax.", "Who still has a fax? I don't.")),
    _said(None, "And your phone number?", ("{phone2}.", "Call me at {phone2}."), "Your phone number is {phone2}.", DESK),
    Plant(None, (("agent", ("Which address should it go to?",)), ("user", ("{house} {street}.",)), ("agent", ("Anything else?",)), ("user", ("Actually, could you send it to my office at 12 Park Lane instead?", "I've changed my mind: 12 Park Lane, please."))), ("You live at {house} {street}. Your office is at 12 Park Lane.",), domains=ALL),
    Plant(None, (("agent", ("Do you have the receipt?",)), ("user", ("I don't have it with me. One moment, I'll look in my emails.",)), ("agent", ("Of course.",)), ("user", ("I've found it: {other_order}.", "Got it, {other_order} is the receipt number."))), ("Your receipt number is {other_order}.",), domains=ALL),
    Plant(None, (("agent", ("Shall I book the morning slot or the afternoon slot?",)), ("user", ("The morning slot, please.",)), ("agent", ("I've booked the afternoon slot.",)), ("user", ("I asked for the morning slot, not the afternoon.", "No, I said morning."))), domains=ALL),
    _said(None, "Would you like our extended warranty?", ("No thank you.", "I'm not interested in a warranty.", "I don't need the extended warranty."), ("You do not want to pay for an extended warranty.", "Turn down any extended warranty."), DESK),
    _said(None, "Is a partial refund an option for you?", ("No, I'd like the whole amount.", "A partial refund isn't enough for me.", "I can't accept a partial refund."), ("You don't accept a partial refund.",), DESK),
    _said(None, "Should I close your account as well?", ("No, please keep my account open.", "Don't close my account, please.", "No!"), ("You do not want your account closed.",), DESK),
    _said(None, "Do you need a paper invoice?", ("Yes, a paper invoice please.", "I do."), "You want a paper invoice.", DESK),
    _said(None, "A subscription would be cheaper. Shall I set one up?", ("What does it cost?", "No, I'm fine without it.", "How does the subscription work? I don't think I want it."), ("You are not interested in a subscription.",), DESK),
    _said(None, ("I see.", "One moment, I'm looking."), (
        "Thank you for helping me with this.", "Could you send me a confirmation by email?", "I hope you can help me with that.",
        "Will my refund appear on my statement soon?", "I've already sent you an email about it.", "Please let me know if you need my booking number.",
        "The lady at the desk said 'we apologize for the trouble'.", "I understand, that's your policy.", "Is there anything I can do on my side?", "Can I speak to your supervisor?",
        "I appreciate your help.", "Has my account been updated?",
    )),
    Plant(None, (("agent", ("I can add a helper for the morning.",)), ("user", ("Good.",)), ("agent", ("And I've noted your wish.",)), ("user", ("Good.",)), ("agent", ("You will get a message.",)), ("user", ("Good.",))), domains=ALL),
    Plant(None, (("agent", ("Could you repeat that, please?",)), ("user", ("I'd be glad if somebody called me before they come.",)), ("agent", ("Sorry, I didn't catch that. Could you repeat that, please?",)), ("user", ("I'd be glad if somebody called me before they come.",))), domains=ALL),
    Plant(None, (("agent", ("Which size do you need?",)), ("user", ("What sizes are there?", "I would have to measure first.", "The same as before.")), ("agent", ("There's small and large. Which size do you need?",)), ("user", ("Large.", "The larger one, I think.", "Small will do."))), domains=ALL),
    Plant(None, (("agent", ("What is your date of birth?",)), ("user", ("I'd prefer not to say that.", "Why do you need it?")), ("agent", ("I can't continue without your date of birth.",)), ("user", ("Then I'd like to talk to somebody else.", "I don't want to give it. Is there another way?"))), domains=ALL),
    Plant(None, (("agent", ("Please turn on airplane mode.", "Could you switch airplane mode on?")), ("does", ("toggle_airplane_mode: on",)), ("user", ("Airplane mode is on.", "I turned it on."))), domains=PHONE),
    Plant(None, (("agent", ("Please reboot the phone.",)), ("does", ("reboot_phone: rebooted",)), ("user", ("I've rebooted the phone, no signal.", "It's back up."))), domains=PHONE),
    Plant(None, (("agent", ("What have you tried so far?",)), ("user", ("I rebooted it twice yesterday.", "Yesterday I took the SIM card out and put it back in, that didn't help."))), domains=PHONE),
    Plant(None, (("agent", ("Please reboot the phone.",)), ("user", ("I'll do that now.", "Will I lose anything if I reboot it?", "Hold on, I'm looking for the button."))), domains=PHONE),
    Plant(None, (("tool", ("save: ok",)), ("agent", ("It's all done. Can I be of further help?", "I've finished that for you, and you'll hear from us. Any other wishes?", "That's settled! Do you need anything else?")), ("user", ("No. Thanks, bye! ###STOP###", "I have everything I need, thank you. ###STOP###", "###STOP###"))), place="end", domains=DESK),
    Plant(None, (("agent", ("I'm sorry, this can't be changed any more, as it's too late for that.", "I've passed you on to a human colleague, who will be with you shortly.")), ("user", ("That's a pity. Goodbye. ###STOP###", "Okay, thank you. ###STOP###", "###STOP###"))), place="end", domains=DESK),
)  # fmt: skip

FOURTH = Wordings(
    SCENES,
    (*INVENTED, *GAVE_AWAY, *CONTRADICTED, *DENIED, *ENDED, *AGAINST, *SPOKE, *REPEATED, *NEVER, *MISUSED, *EMPTY, *INNOCENT),
    {**VALUES, "phone2": ("555-0{n3}-{n4}",)},
)  # fmt: skip
