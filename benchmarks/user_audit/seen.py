"""The wordings that the checks were written on."""

from __future__ import annotations

from benchmarks.user_audit.talks import Plant, Scene, Wordings

VALUES = {
    "first": ("Mia", "Omar", "Ivan", "Sofia", "Noah", "Lucas"),
    "last": ("Kim", "Lopez", "Santos", "Patel", "Moore", "Silva"),
    "other_first": ("Gustav", "Petra", "Hamid", "Wanda"),
    "other_last": ("Okoro", "Lindqvist", "Varga", "Castellan"),
    "street": ("Elm Street", "Cedar Avenue", "Oak Road", "Maple Drive"),
    "other_street": ("Willow Lane", "Birch Boulevard", "Harbor Street"),
    "month": ("May", "June", "August"),
    "other_month": ("February", "November"),
}

_DONE = ("agent", (
    "Your request has been completed. Is there anything else I can help you with?",
    "All set: {deed_done}. Anything else I can do for you today?",
))  # fmt: skip
_BYE = (
    "user",
    (
        "No, that's all. Thank you! ###STOP###",
        "###STOP###",
        "That was everything, thanks.\n###STOP###",
    ),
)


def _scene(domain: str, instructions: tuple[str, ...], opening: tuple[str, ...], proof: tuple[str, ...],
           look: tuple[str, ...], slots: dict[str, tuple[str, ...]], ask: tuple[str, ...], *, is_chat: bool = False) -> Scene:  # fmt: skip
    return Scene(
        domain,
        instructions,
        (
            ("user", opening),
            ("agent", ask),
            ("user", proof),
            ("tool", look),
            ("agent", ("Thank you, I found you. You want me to {deed}, is that right?", "Thanks! I can {deed}. Please confirm (yes/no).")),
            ("user", ("Yes, that's right.", "Yes, please {deed}.", "Correct, go ahead.")),
            ("here", ()),
            ("tool", ("do_it: done",)),
            _DONE,
            _BYE,
        ),
        slots,
        is_chat,
    )  # fmt: skip


SCENES = (
    _scene(
        "retail",
        (
            "You are {first} {last} and your email is {email}. You want to cancel your order {order} because you no longer need it. You are brief.",
            "Your name is {first} {last}, and you live in {zip}. You ordered a lamp in {order} and you want to cancel the order.",
        ),
        ("Hi, I'd like to cancel an order.", "Hello! I need to cancel my order {order}."),
        ("My name is {first} {last} and the order is {order}.", "Sure. I'm {first} {last}, order {order}."),
        ('get_order_details: {{"order_id": "{order}", "status": "pending", "total": 219.5}}',),
        {"thing": ("order",), "deed": ("cancel the order",), "deed_done": ("the order is cancelled",), "extra": ("gift wrapping", "a store credit", "an extended warranty"),
         "thing_id": ("{order}",), "other_id": ("{other_order}",)},
        ("I can help with that. Could you please provide your name and the order number?",),
    ),
    _scene(
        "airline",
        (
            "Instructions:\n\tDomain: airline\n\tReason for call:\n\t\tYou want to change your reservation {code} to a later flight.\n\tKnown info:\n\t\tYou are {first} {last}.\n\t\tYour user id is {user_id}.\n\tTask instructions:\n\t\tYou are polite.",
            "You are {user_id}. You want to change reservation {code} to a flight on {month} {day}.",
        ),
        ("Hi! I want to move my flight to a later one.", "Hello, I'd like to change my reservation {code}."),
        ("Sure, my user ID is {user_id}. The reservation is {code}.", "It's {user_id}, reservation {code}."),
        ('get_reservation_details: {{"reservation_id": "{code}", "cabin": "economy"}}',),
        {"thing": ("reservation",), "deed": ("change the flight",), "deed_done": ("the flight is changed",), "extra": ("travel insurance", "a travel voucher", "a seat upgrade"),
         "thing_id": ("{code}",), "other_id": ("{other_code}",)},
        ("Happy to help. May I have your user ID and the reservation number?",),
    ),
    _scene(
        "telecom",
        (
            "Instructions:\n\tDomain: telecom\n\tReason for call:\n\t\tYour mobile data does not work. You want to fix it.\n\tKnown info:\n\t\tYou are {first} {last} with phone number {phone}.\n\tTask instructions:\n\t\tNever make up the results of tool calls, always ground your responses on the results of tool calls.",
        ),
        ("Hello, my mobile data has stopped working.", "Hi! My phone has no data connection."),
        ("I'm {first} {last}, my number is {phone}.", "The number is {phone}."),
        ('get_customer_by_phone: {{"customer_id": "C{n4}", "phone_number": "{phone}"}}',),
        {"thing": ("line",), "deed": ("fix the data connection",), "deed_done": ("your data works again",), "extra": ("a bigger data plan", "a new SIM card"),
         "thing_id": ("{phone}",), "other_id": ("{other_phone}",)},
        ("I can look into it. What is the phone number of the line?",),
    ),
    _scene(
        "library",
        ("You are {first} {last}, member {n7}. You want to renew your loan of a book. You are cheerful.\n\nWho you are: a student",),
        ("Hey, I'd like to renew a loan.",),
        ("{first} {last}, my member number is {n7}.",),
        ("find_member: {n7} has one loan, due {month} {day}",),
        {"thing": ("loan",), "deed": ("renew the loan",), "deed_done": ("the loan is renewed",), "extra": ("a reading course", "an audio subscription"),
         "thing_id": ("{n7}",), "other_id": ("{other_order}",)},
        ("Sure. Who am I talking to, and what is your member number?",),
        is_chat=True,
    ),
)  # fmt: skip

_ASK_EMAIL = (
    "agent",
    ("Could you give me your email address?", "What is the email address on the account?"),
)
_ASK_ZIP = ("agent", ("What is your zip code, please?", "Please provide your zip code."))
_ASK_ADDRESS = ("agent", ("Which address should I use?", "What is your home address?"))

PLANTS = (
    # Facts that nobody gave
    Plant("invented_fact", (_ASK_EMAIL, ("user", ("Sure, it is {other_email}.", "My email is {other_email}.", "{other_email}")))),
    Plant("invented_fact", (_ASK_ZIP, ("user", ("It's {other_zip}.", "My zip code is {other_zip}.")))),
    Plant("invented_fact", (("agent", ("When did you place it?", "On which day was that?")), ("user", ("It was on {other_month} {other_day}.", "On {other_month} {other_day}, I think.")))),
    Plant("invented_fact", (("agent", ("Do you have another {thing} number for me?",)), ("user", ("Yes, there is also {other_id}.", "The other one is {other_id}.")))),
    Plant("invented_fact", (_ASK_ADDRESS, ("user", ("I live at {house} {other_street}.", "Send it to {house} {other_street}, please.")))),
    Plant("invented_fact", (("agent", ("Who else is on the account?",)), ("user", ("His name is {other_first} {other_last}.", "Someone called {other_first} {other_last}.")))),
    Plant("invented_fact", (("agent", ("How much did you pay?",)), ("user", ("I paid ${other_amount}.", "About ${other_amount} dollars.")))),
    # What is held back
    Plant("gave_away", (_ASK_ADDRESS, ("user", ("I live at {house} {street}.", "It is {house} {street}.")),), ("Your home address is {house} {street}, and you do not want to reveal your address.", "You live at {house} {street}. You do not want to reveal your address."), ()),
    Plant("gave_away", (("agent", ("Could you tell me why?", "May I ask for the reason?")), ("user", ("To be honest, I lost my job last week.", "I lost my job, so money is tight.")),), ("Do not mention that you lost your job.", "You lost your job. Do not tell the agent that you lost your job.")),
    Plant("gave_away", (("agent", ("One moment, please. I am looking.",)), ("user", ("By the way, I have a gold membership.", "I am a gold member, and I have a gold membership card.")),), ("You have a gold membership, but do not mention your gold membership unless you are asked about it.",)),
    Plant("gave_away", (_ASK_EMAIL, ("user", ("It's {email}.", "{email}")),), ("Your email is {email}. You prefer not to give your email address.",)),
    # Contradictions
    Plant("contradicted_itself", (_ASK_ZIP, ("user", ("My zip code is {zip}.",)), ("agent", ("I can't find that one. Could you repeat the zip code?",)), ("user", ("My zip code is {other_zip}.",))), ("Your zip code is {zip}.",), ("invented_fact",)),
    Plant("contradicted_itself", (_ASK_EMAIL, ("user", ("I don't have my email address with me.", "I don't remember my email address.")), ("agent", ("Then I cannot verify you.",)), ("user", ("It's {email}.", "My email is {email}."))), ("Your email is {email}.",), ("denied_fact",)),
    Plant("contradicted_itself", (("agent", ("Then I will {deed} now.",)), ("user", ("I never asked you to {deed}!", "I didn't want to {deed}.")),), ("You want to {deed}.",), ("against_instruction",), domains=("retail", "airline", "library")),
    # Denials
    Plant("denied_fact", (_ASK_EMAIL, ("user", ("I'm sorry, I don't remember my email address.", "I don't have my email with me.")),), ("Your email is {email}.",)),
    Plant("denied_fact", (("agent", ("What is your phone number?",)), ("user", ("I can't find my phone number right now.", "I don't know my phone number.")),), ("Your phone number is {phone}.",)),
    # Ends
    Plant("ended_too_early", (("agent", ("Could you please tell me your user ID?", "I can help. What is your name?")), ("user", ("###STOP###", "Thanks, bye. ###STOP###"))), place="start"),
    Plant("ended_too_early", (("agent", ("There is a fee of $20. Do you want me to proceed (yes/no)?", "To go on I need your confirmation. Shall I {deed}?")), ("user", ("###STOP###", "Thank you! ###STOP###"))), place="end"),
    Plant("ended_too_early", (("agent", ("Shall I {deed} now? Please confirm with yes.",)), ("user", ("Yes, please. ###STOP###", "Yes ###STOP###"))), place="end"),
    Plant("ended_too_early", (("agent", ("One moment, please. I will check that for you.", "Let me look that up.")), ("user", ("###STOP###", "Great, thanks! ###STOP###"))), place="end"),
    # Against the instruction
    Plant("against_instruction", (("agent", ("I could offer you {extra}. Would you like {extra}?", "Would you like to add {extra}?")), ("user", ("Yes, please.", "Sure, that sounds good.", "Yes, I'll take it."))), ("You do not want {extra}.", "Do not accept {extra}.", "You will not accept {extra}.")),
    Plant("against_instruction", (("agent", ("It will take a few days.",)), ("user", ("Okay. Please add {extra}, too.", "Then I'd like {extra}."))), ("You do not want {extra}.", "You refuse {extra}.")),
    Plant("against_instruction", (("agent", ("Shall I {deed} now?", "Do you want me to {deed}?")), ("user", ("No.", "No, I don't want to {deed}."))), ("You want to {deed}.",), ("contradicted_itself",)),
    Plant("against_instruction", (("agent", ("I cannot do that. Would you like to be transferred to a human agent?",)), ("user", ("Yes, please transfer me.", "Yes, please transfer me to a human."))), ("You do not want to be transferred to another agent.", "Under no circumstances you want to get transferred to a human agent.")),
    # As the agent
    Plant("spoke_as_agent", (("agent", ("Thank you, noted.",)), ("user", ("How can I help you today?", "Is there anything else I can help you with?", "I have processed your request. Your {thing} has been updated.", "Could you please provide your order number?", "Thank you for contacting us!", "I'd be happy to assist you with that."))), also=("invented_fact",)),
    # Again
    Plant("repeated_itself", (("agent", ("The fee for this is $20.",)), ("user", ("I would like to know how long this will take and what it costs in the end.",)), ("agent", ("It takes three days, and costs $20.",)), ("user", ("I would like to know how long this will take and what it costs in the end.", "I would like to know how long it will take, and what it costs in the end.")))),
    # Never answered
    Plant("never_answered", ((_ASK_ZIP), ("user", ("I have been a customer for years.", "This has been such a long week.")), ("agent", ("I see. Still, please provide your zip code.", "I need your zip code to go on. What is it?")), ("user", ("My neighbor told me about your company.", "It is raining here today.", "Everybody says that the service is great.")))),
    Plant("never_answered", (("agent", ("Do you want me to {deed}? Please answer yes or no.",)), ("user", ("The weather has been terrible lately.",)), ("agent", ("Sorry, do you want me to {deed}? Please answer yes or no.",)), ("user", ("My dog is barking the whole day.", "It is a lovely lamp that my sister has.")))),
    # Tools
    Plant("misused_tools", (("agent", ("Please check the status bar of your phone.",)), ("does", ("reboot_device: Restarting",)), ("user", ("It shows full signal.",))), domains=("telecom",)),
    Plant("misused_tools", (("agent", ("Please restart your phone.",)), ("user", ("I have restarted my phone.", "I just rebooted the phone, it is still the same.")), ("agent", ("Please check the status bar.",)), ("does", ("check_status_bar: no signal",)), ("user", ("It says no signal.",)), ("agent", ("Please restart the phone again.",)), ("does", ("reboot_device: Restarting",)), ("user", ("The bar still has no signal.",))), domains=("telecom",)),
    Plant("misused_tools", (("agent", ("Please reset your APN settings.",)), ("does", ("reset_apn_settings: reset",)), ("user", ("The settings are back to the default now.",))), ("You must not reset the APN settings of your phone.",), domains=("telecom",)),
    Plant("empty_message", (("agent", ("Just a moment.",)), ("user", (" ", "")))),
    # What looks like a fault and is none
    Plant(None, (_ASK_EMAIL, ("user", ("I don't remember my email address.", "I'd rather not give my email.")),), ("You do not remember your email address.",)),
    Plant(None, (("agent", ("Your other {thing} is {other_id}, placed on {other_month} {other_day}. Is it about that one?",)), ("user", ("No, not {other_id}.", "No, leave the one of {other_month} {other_day} alone.")))),
    Plant(None, (("agent", ("I could offer you {extra}. Would you like {extra}?",)), ("user", ("No, thank you.", "No, I don't want {extra}."))), ("You do not want {extra}.", "Do not accept {extra}.")),
    Plant(None, (("agent", ("The fee is $20 and the postage $13. Shall I go on?",)), ("user", ("So $33 in all? Yes, go on.", "Yes, go on.")))),
    Plant(None, (_ASK_ZIP, ("user", ("My zip code is {zip}.",)), ("agent", ("I did not get that. What is your zip code?",)), ("user", ("My zip code is {zip}.", "It's {zip}."))), ("Your zip code is {zip}.",)),
    Plant(None, (("agent", ("Do you have a membership with us?",)), ("user", ("Yes, I have a gold membership.",))), ("You have a gold membership, but do not mention your gold membership unless you are asked about it.",)),
    Plant(None, (("agent", ("May I ask for the reason?",)), ("user", ("I just don't need it any more.", "I'd rather keep that to myself."))), ("Do not mention that you lost your job.",)),
    Plant(None, (("agent", ("Please restart your phone.",)), ("does", ("reboot_device: Restarting",)), ("user", ("I have restarted the phone.",))), domains=("telecom",)),
    Plant(None, (("agent", ("Which address should I use?",)), ("user", ("{house} {street}, please.", "I live at {house} {street}."))), ("You live at {house} {street}.",)),
    Plant(None, (("agent", ("Please wait a moment.",)), ("user", ("Sure, take your time.", "Okay, thanks for your patience with me.")))),
    Plant(None, ()),
)  # fmt: skip

SEEN = Wordings(SCENES, PLANTS, VALUES)
