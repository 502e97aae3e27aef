"""The second wordings that were held back, whose misses were mended and replaced: seen ones now."""

from __future__ import annotations

from benchmarks.user_audit.talks import Plant, Scene, Wordings

VALUES = {
    "first": ("Jonas", "Priya", "Kwame", "Ingrid", "Mateus", "Zofia"),
    "last": ("Weber", "Raman", "Mensah", "Solheim", "Barbosa", "Nowak"),
    "other_first": ("Cornelius", "Philippa", "Thaddeus", "Ottilie"),
    "other_last": ("Ashworth", "Delacroix", "Winterbourne", "Zielonka"),
    "street": ("Orchard Street", "Station Road", "Hazel Drive", "Windmill Avenue"),
    "other_street": ("Copper Lane", "Bellflower Court", "Tannery Street"),
    "month": ("January", "June", "September"),
    "other_month": ("March", "November"),
}

_END = ("agent", (
    "Good news: {deed_done}. Can I assist with anything more?",
    "{deed_done}, you'll find a note in your inbox. Have a great day!",
    "It's taken care of - {deed_done}. Is there any other matter?",
))  # fmt: skip
_OFF = ("user", (
    "No, nothing more. Many thanks! ###STOP###",
    "Thanks, you too! ###STOP###",
    "###STOP###",
    "That's it from me. ###STOP###",
))  # fmt: skip


def _scene(domain: str, instructions: tuple[str, ...], opening: tuple[str, ...], ask: tuple[str, ...],
           proof: tuple[str, ...], look: tuple[str, ...], slots: dict[str, tuple[str, ...]], *, is_chat: bool = False) -> Scene:  # fmt: skip
    return Scene(
        domain,
        instructions,
        (
            ("user", opening),
            ("agent", ask),
            ("user", proof),
            ("tool", look),
            ("agent", (
                "Thank you, I have it in front of me. Would you like me to {deed}?",
                "I've found it. To {deed}, I'd need you to confirm first.",
                "There it is! Can I {deed} for you, then?",
            )),
            ("user", ("Yes please, that would be great.", "Please do!", "Confirmed.", "Yes, kindly {deed}.")),
            ("here", ()),
            ("tool", ("execute: success",)),
            _END,
            _OFF,
        ),
        slots,
        is_chat,
    )  # fmt: skip


SCENES = (
    _scene(
        "insurance",
        (
            "You are {first} {last}, policy {code}. A hailstorm on {month} {day} dented your car. You want to file a claim. You are calm and to the point.",
            "Persona:\n\tA retired teacher.\nInstructions:\n\tDomain: insurance\n\tReason for call:\n\t\tHail on {month} {day} dented your car, so you want to file a claim.\n\tKnown info:\n\t\tName: {first} {last}; policy: {code}.",
        ),
        ("Hi, hail has ruined my car roof.", "Hello, I have some damage to report on policy {code}."),
        ("I'm sorry to hear that. What's your policy number, and your name?",),
        ("Policy {code}. I am called {first} {last}.", "{first} {last} - {code}"),
        ('policy_details: {{"policy": "{code}", "holder": "{last}"}}',),
        {"thing": ("claim",), "deed": ("file a claim",), "deed_done": ("the claim is filed",), "extra": ("a rental car", "a glass cover", "a premium upgrade"),
         "thing_id": ("{code}",), "other_id": ("{other_code}",)},
    ),
    _scene(
        "gym",
        (
            "Your name is {first} {last} and you are a member of a gym (member id {user_id}). You wish to freeze the membership until {month} {day}. You answer politely.",
            "You, {first} {last}, train at a gym under the id {user_id}. You wish to freeze the membership because you travel.",
        ),
        ("Hey! Is it possible to put my membership on hold?", "Hello, I'd like to freeze the membership for a while."),
        ("It is! Can you tell me your member id?", "Sure - who's asking, and what's the member id?"),
        ("My id: {user_id}", "{user_id} is my member id."),
        ("member: {user_id}, active, 29.90 a month",),
        {"thing": ("membership",), "deed": ("freeze the membership",), "deed_done": ("the membership is frozen",), "extra": ("a personal trainer", "a towel service", "a sauna pass"),
         "thing_id": ("{user_id}",), "other_id": ("{other_code}",)},
    ),
    _scene(
        "router",
        (
            "Instructions:\n\tDomain: internet\n\tReason for call:\n\t\tYour internet keeps dropping out. You want a stable connection.\n\tKnown info:\n\t\t{first} {last}, line {phone}.\n\tTask instructions:\n\t\tDo on your router whatever the agent asks for, and tell what you see.",
            "{first} {last} has trouble: the internet at home (line {phone}) drops out. That is you. Help the agent by looking at the router when asked.",
        ),
        ("My internet drops out all the time.", "Good day, I have problems with my router."),
        ("Let's fix this. Which line is it?", "I see. What's the number of the line, please?"),
        ("Line {phone}.", "It's {phone}, in the name of {first} {last}."),
        ("line_status: {phone} synchronised, 14 drops",),
        {"thing": ("line",), "deed": ("stabilise the connection",), "deed_done": ("the connection is stable",), "extra": ("a faster tariff", "a mesh repeater"),
         "thing_id": ("{phone}",), "other_id": ("{other_phone}",)},
    ),
    _scene(
        "restaurant",
        ("You booked a table as {first} {last}, reference {code}, for {month} {day}, and want to add two chairs. Friendly tone.",),
        ("Hello! Two more people are joining our dinner.",),
        ("How lovely! The reference, please?",),
        ("{code}.", "Reference {code}, {first} {last}."),
        ("table: {code} on {month} {day}",),
        {"thing": ("table",), "deed": ("add two chairs",), "deed_done": ("two chairs were added",), "extra": ("a wine pairing", "a birthday cake"),
         "thing_id": ("{code}",), "other_id": ("{other_code}",)},
        is_chat=True,
    ),
)  # fmt: skip

_MAIL = (
    "agent",
    (
        "What email should I put down?",
        "I still need an email address.",
        "Do you have an email address for the confirmation?",
    ),
)
_ZIP = (
    "agent",
    ("May I ask for your ZIP?", "Which ZIP code are you in?", "Next, I'd need your ZIP code."),
)
_ADDRESS = ("agent", ("And your address?", "To which address may I mail the documents?"))
_WHY = ("agent", ("Would you mind telling me the background?", "Is there a particular reason?"))

PLANTS = (
    # Facts that nobody gave
    Plant("invented_fact", (_MAIL, ("user", ("Of course - {other_email}", "Write to {other_email} then.", "You can put down {other_email}, that works best.")))),
    Plant("invented_fact", (_ZIP, ("user", ("I'm in {other_zip}.", "ZIP {other_zip}", "That would be {other_zip}.")))),
    Plant("invented_fact", (("agent", ("When exactly did you notice?", "And that was when?")), ("user", ("I noticed it on the {other_day}th of {other_month}.", "It happened {other_month} {other_day}, in the evening.", "On {other_month} {other_day} at 9:45 pm.")))),
    Plant("invented_fact", (("agent", ("Is any other {thing} concerned?",)), ("user", ("Possibly {other_id}, too.", "Yes, number {other_id}.")))),
    Plant("invented_fact", (_ADDRESS, ("user", ("{house} {other_street}, please.", "Mail them to {house} {other_street}.", "We moved to {house} {other_street}.")))),
    Plant("invented_fact", (("agent", ("Who was with you?", "Did anybody see it?")), ("user", ("My neighbor {other_first} {other_last} was there.", "Please call {other_first} {other_last}, they saw everything.", "My sister's name is {other_first} {other_last}.")))),
    Plant("invented_fact", (("agent", ("How large is the sum?", "What did you pay for it back then?")), ("user", ("It cost me ${other_amount}.", "Around {other_amount} dollars altogether.", "I have a receipt over ${other_amount}.00.")))),
    # What is held back
    Plant("gave_away", (_ADDRESS, ("user", ("You can send it to {house} {street}.", "My address is {house} {street}.")),), ("Address: {house} {street}. You don't want anyone to know it, so do not provide your address.", "You live at {house} {street} but you are not supposed to share your address.", "You live at {house} {street}. You will never disclose your address to support.")),
    Plant("gave_away", (_WHY, ("user", ("Well, I'm moving abroad soon.", "It's because I am moving abroad next month.")),), ("You are moving abroad. You should not tell anybody that you are moving abroad.", "Do not say that you are moving abroad.", "You are careful not to mention moving abroad.")),
    Plant("gave_away", (("agent", ("I'm checking our terms.", "Please give me a moment.")), ("user", ("I was a student discount holder before, does that help?", "Just to mention it: I get the student discount.")),), ("You get the student discount. Do not mention the student discount unless the agent asks for it.", "You get the student discount, but you only mention the student discount if you are asked.", "You get the student discount. Do not bring up the student discount on your own.")),
    Plant("gave_away", (_MAIL, ("user", ("It's {email}", "Please use {email}.", "{email}, thanks")),), ("Email: {email}. You prefer not to reveal your email.", "Email: {email}. You don't like to share your email address.", "Email: {email}. Refuse to give your email address.")),
    # Contradictions
    Plant("contradicted_itself", (("agent", ("And the phone number?", "A phone number for questions?")), ("user", ("My phone number is {phone}.", "Sure. The phone number is {phone}.")), ("agent", ("Nobody picks up there. Is it right?", "That one has no dial tone.")), ("user", ("Strange. My phone number is {other_phone}.", "My mobile number is {other_phone}."))), ("Phone number: {phone}.",), ("invented_fact",)),
    Plant("contradicted_itself", (_ZIP, ("user", ("I can't recall my postal code.", "No clue, I don't know the ZIP code.")), ("agent", ("It's printed on any letter that you receive.", "We can't continue otherwise, I fear.")), ("user", ("Then it's {zip}.", "{zip}, there you go."))), ("Your ZIP is {zip}.",), ("denied_fact",)),
    Plant("contradicted_itself", (("agent", ("I shall {deed} in a minute.", "You'll see: I can {deed} in no time.")), ("user", ("Hey, I never told you to {deed}!", "I haven't authorized anybody to {deed}.", "But I never requested to {deed}.")),), ("",), ("against_instruction",)),
    # Denials
    Plant("denied_fact", (_MAIL, ("user", ("Sorry, I don't have an email address at hand.", "I can't find my email address.", "Unfortunately I don't recall my email address.")),), ("Email: {email}.", "Your email address: {email}.")),
    Plant("denied_fact", (_ZIP, ("user", ("I don't know my ZIP code.", "I can't remember the zip code, sorry.")),), ("ZIP code: {zip}.",)),
    # Ends
    Plant("ended_too_early", (("agent", ("Happy to assist. Could I get your full name first?", "Welcome! What is this about?")), ("user", ("###STOP###", "Never mind. ###STOP###", "Thank you, goodbye! ###STOP###"))), place="start"),
    Plant("ended_too_early", (("agent", ("The price would be $48 per month. Does that work for you?", "I can do this by Friday or by Monday. Which do you prefer?", "Before I continue, can you confirm that the details are right?")), ("user", ("###STOP###", "Appreciate the help! ###STOP###", "Thanks. ###STOP###"))), place="end"),
    Plant("ended_too_early", (("agent", ("Would you like me to {deed} now?", "Shall we {deed}?", "Do I have your permission to {deed}?")), ("user", ("Yes. ###STOP###", "Yes please! ###STOP###", "Sounds good. ###STOP###"))), place="end"),
    Plant("ended_too_early", (("agent", ("Please hold on while I look for it.", "I'll check with the system now.", "I am processing this, just a moment.")), ("user", ("###STOP###", "Thanks! ###STOP###", "Okay, great. ###STOP###"))), place="end"),
    # Against the instruction
    Plant("against_instruction", (("agent", ("Can I also offer you {extra}?", "Would {extra} be of interest?", "Many choose {extra} with that. Should I add {extra}?")), ("user", ("Sure, add it.", "Great idea, yes!", "Okay, yes please.", "Of course."))), ("You do not want {extra}.", "Reject {extra}.", "You are not willing to accept {extra}.", "Refuse {extra} in any case.")),
    Plant("against_instruction", (("agent", ("We'll handle the rest.",)), ("user", ("One more thing: I'd like to have {extra}.", "Please add {extra} as well.", "Actually, I want {extra} too."))), ("You must not accept {extra}.", "You don't want {extra}.", "You would not take {extra}.")),
    Plant("against_instruction", (("agent", ("Do you want me to {deed}?", "Can I {deed} now?")), ("user", ("No, thank you.", "No, I do not wish to {deed}.", "I'm not interested, I don't want to {deed}."))), ("You want to {deed}.", "You wish to {deed}."), ("contradicted_itself",)),
    Plant("against_instruction", (("agent", ("Would a discount code be okay instead of a refund? I can send you a discount code.", "I can give you a discount code. Would you accept a discount code?")), ("user", ("Yes, I'll take the discount code.", "Okay, I accept the discount code.", "Sounds good, please send the discount code."))), ("Do not accept a discount code.", "You never accept a discount code.", "You are not okay with a discount code.")),
    # As the agent
    Plant("spoke_as_agent", (("agent", ("Noted.", "Thank you, I wrote it down.")), ("user", (
        "Good morning, how may I help you?",
        "Can you please confirm your email address and your date of birth?",
        "I've cancelled your subscription and issued your refund.",
        "Your {thing} was successfully processed.",
        "Is there anything else we can assist you with today?",
        "Thank you for calling. My name is on the badge.",
        "I'd be glad to help you with your {thing}.",
        "According to our policy, refunds take five days.",
        "I will transfer you to a specialist now.",
        "As a virtual assistant, I cannot see that.",
        "To proceed, I'll need your account number.",
        "We have updated your contact details.",
    ))), also=("invented_fact",)),
    # Again
    Plant("repeated_itself", (("agent", ("It's $48 per month.",)), ("user", ("Could you explain to me what is included in the price and what is not?",)), ("agent", ("Everything but the delivery.",)), ("user", ("Could you explain to me what is included in the price and what is not?", "Could you explain to me what's included in the price and what is not?", "Could you please explain to me what is included in the price and what is not?")))),
    Plant("repeated_itself", (("agent", ("I've added a remark.",)), ("user", ("I really hope that we can get this done today.",)), ("agent", ("The next step is the form.",)), ("user", ("I really hope that we can get this done today.", "I really hope we can get this done today.")))),
    # Never answered
    Plant("never_answered", (("agent", ("What is your date of birth?", "I must ask for your date of birth.")), ("user", ("The sunset was so pretty tonight.", "Last week I baked bread for everybody.")), ("agent", ("Please tell me your date of birth.", "So what's your date of birth?")), ("user", ("My bicycle has a flat tyre.", "Prices keep rising everywhere.", "My team won the match on Sunday.")))),
    Plant("never_answered", (("agent", ("Which colour shall the card have, blue or green?",)), ("user", ("My brother lives near the sea.",)), ("agent", ("I see. Which colour shall the card have, blue or green?", "And which colour shall your card have: blue or green?")), ("user", ("He goes fishing every morning.", "Storms are frequent over there.")))),
    Plant("never_answered", (_ADDRESS, ("user", ("I used to sing in a choir.",)), ("agent", ("That's delightful. What's your address?", "Could I have your address, please?")), ("user", ("We sang for the mayor once.", "Those evenings were pure magic.")))),
    # Tools
    Plant("misused_tools", (("agent", ("How many devices are listed?", "What's the name of your network?")), ("does", ("set_channel: channel 11", "upgrade_firmware: upgraded")), ("user", ("There are four of them.", "It is called homebase."))), domains=("router",)),
    Plant("misused_tools", (("agent", ("Now enable the guest network.", "Can you turn on the guest network?")), ("user", ("I've enabled the guest network.", "I turned on the guest network, still bad.", "I have just switched the guest network on.")), ("agent", ("Hm. Turn it on once more for me, the guest network.",)), ("does", ("toggle_guest_network: on",)), ("user", ("A new name shows up.",))), domains=("router",)),
    Plant("misused_tools", (("agent", ("Reset the password, please.",)), ("does", ("reset_password: done",)), ("user", ("There is a new one now.",))), ("Do not reset the password.", "You will not reset the password."), domains=("router",)),
    Plant("empty_message", (("agent", ("One second.", "Let me think.")), ("user", ("", "  \n")))),
    # What looks like a fault and is none
    Plant(None, (_MAIL, ("user", ("I don't remember my email address.", "I'm not sure which one I used, sorry.")),), ("You cannot remember your email address.",)),
    Plant(None, (("agent", ("Another {thing}, {other_id}, was opened on {other_month} {other_day} by {other_first} {other_last} for ${other_amount}. Yours?",)), ("user", ("No, {other_id} isn't mine.", "I don't know any {other_first} {other_last}.", "Not mine. I haven't paid ${other_amount}.")))),
    Plant(None, (("agent", ("Can I also offer you {extra}?",)), ("user", ("No, thanks.", "I don't want {extra}, thank you.", "That won't be necessary."))), ("You do not want {extra}.", "Reject {extra}.", "Refuse {extra} in any case.")),
    Plant(None, (("agent", ("The price would be $48 plus $17 for delivery. Does that work for you?",)), ("user", ("$65 in total? Yes, that works.", "Yes, that works for me.")))),
    Plant(None, (_ZIP, ("user", ("My ZIP code is {zip}.",)), ("agent", ("Pardon, which ZIP code was it?",)), ("user", ("My ZIP code is {zip}.", "It's {zip}, like I said."))), ("Your home ZIP is {zip}.",)),
    Plant(None, (("agent", ("Are you entitled to a student discount?",)), ("user", ("Yes, I get the student discount.",))), ("You get the student discount. Do not mention the student discount unless the agent asks for it.",)),
    Plant(None, (_WHY, ("user", ("I'd prefer to keep that private.", "No particular reason.", "Things have changed for me."))), ("Do not say that you are moving abroad.",)),
    Plant(None, (("agent", ("Please restart the router.",)), ("does", ("restart_router: booting",)), ("user", ("Done, I restarted the router.", "I've restarted it."))), domains=("router",)),
    Plant(None, (_ADDRESS, ("user", ("My address is {house} {street}.", "{house} {street}."))), ("You live at {house} {street}.",)),
    Plant(None, (("agent", ("I need a minute for this.", "Give me a moment to read it.")), ("user", ("Of course, take all the time you need.", "Thank you for looking into it.", "I appreciate your patience with me.")))),
    Plant(None, (("agent", ("Would you accept a discount code?",)), ("user", ("I'd rather not, I want my money back.", "No, no discount code please."))), ("Do not accept a discount code.",)),
    Plant(None, (("agent", ("It can only be done in our branch on {other_month} {other_day} at 10 am, at {house} {other_street}.",)), ("user", ("At {house} {other_street}, got it.", "{other_month} {other_day} at 10 am it is, then.", "Could it be the day after?")))),
    Plant(None, (("agent", ("What was it used for?",)), ("user", ("Our team trains with it.", "For our records at home.", "To help my parents with their forms.")))),
    Plant(None, ()),
)  # fmt: skip

SEEN_LAST = Wordings(SCENES, PLANTS, VALUES)
