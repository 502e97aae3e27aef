"""Wordings for the checks that were mended last: what users do, accept and deny.

Written after these checks were mended and before any of it was measured, in domains of its own. The
checks were mended on what they missed here, so it is seen now.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.user_audit.talks import Plant, Scene, Wordings

VALUES = {
    "first": ("Anouk", "Tariq", "Milena", "Kwame", "Ingrid", "Rafael"),
    "last": ("Dubois", "Haddad", "Novak", "Mensah", "Solberg", "Moreno"),
    "other_first": ("Bartholomew", "Winifred"),
    "other_last": ("Ashcombe", "Thistlewood"),
    "street": ("Cedar Street", "Harbour Road", "Hillside Drive"),
    "other_street": ("Juniper Lane", "Market Street"),
    "month": ("May", "September"),
    "other_month": ("March", "October"),
}


def scene(domain: str, wish: str, opening: str, deed: str, tool: str) -> Scene:
    return Scene(
        domain,
        (
            f"You are {{first}} {{last}}, customer {{n7}}. {wish} You are in a hurry.",
            f"Domain: {domain}. Known info: you are {{first}} {{last}} with customer number {{n7}}. {wish}",
        ),
        (
            ("user", (f"Hello, {opening}", f"Hi! {opening}")),
            ("agent", ("Happy to help. Who am I speaking to, and what is your customer number?",)),
            ("user", ("{first} {last}, {n7}.", "This is {first} {last}, customer {n7}.")),
            ("tool", ("find_customer: {{\"customer\": \"{n7}\"}}",)),
            ("agent", (f"Thanks, {{first}}. I can {deed} from here. Shall I?", f"Got it. Would you like me to {deed}?")),
            ("user", ("Yes, please.", "Please do.")),
            ("here", ()),
            ("tool", ("finish: {{\"ok\": true}}",)),
            ("agent", ("That is done on my side. Is there anything else?",)),
            ("user", ("No, thank you. ###STOP###", "###STOP###")),
        ),
        user_tools=(tool,) if tool else (),
    )  # fmt: skip


SCENES = (
    scene("heating", "Your radiators stay cold.", "my radiators stay cold.", "open a ticket for your heating", "check_pressure"),
    scene("printer", "Your printer prints blank pages.", "my printer only gives me blank pages.", "look up the warranty of your printer", "check_ink_levels"),
    scene("charger", "Your car does not charge at home.", "my car won't charge at home.", "send a signal to your wallbox", "read_display"),
    scene("alarm", "Your alarm system beeps every minute.", "my alarm system keeps beeping.", "see the log of your alarm", "view_panel"),
    scene("tablet", "Your tablet is very slow.", "my tablet has become so slow.", "look at the state of your tablet", "check_storage"),
    scene("coffee", "Your coffee machine shows an error.", "my coffee machine shows an error.", "register the error of your machine", "read_error"),
    scene("library", "You want to keep two books for longer.", "I'd like to keep two books for longer.", "extend your two books", ""),
    scene("car_hire", "You want to pick the car up an hour later.", "I'd like to pick up my car an hour later.", "move the pickup by an hour", ""),
    scene("florist", "You want to add roses to a bouquet.", "could you add roses to my bouquet?", "add roses to the bouquet", ""),
    scene("pension", "You want to know when your pension starts.", "when does my pension start?", "work out the start of your pension", ""),
    scene("cinema", "You want to swap your seats.", "can I swap my seats?", "swap the seats", ""),
    scene("storage", "You want a larger storage unit.", "I need a larger storage unit.", "reserve a larger unit", ""),
)  # fmt: skip
DESK = ("library", "car_hire", "florist", "pension", "cinema", "storage")


def _does(domain: str, heard: tuple[str, ...], tool: str, reply: tuple[str, ...], rules: tuple[str, ...] = ("",)) -> Plant:  # fmt: skip
    lines = (("agent", heard), ("does", (tool,)), ("user", reply))
    return Plant("misused_tools", lines, rules, domains=(domain,))


def _tells(domain: str, heard: tuple[str, ...], reply: tuple[str, ...]) -> Plant:
    return Plant("misused_tools", (("agent", heard), ("user", reply)), domains=(domain,))  # fmt: skip


MISUSED = (
    # Nobody asked for it.
    _does("heating", ("Which rooms are cold?", "Since when have they been cold?"), "bleed_radiator: air is out", ("The bedroom and the bath.", "For three days or so.")),
    _does("heating", ("Please check the pressure and tell me what it says.",), "refill_water: filled", ("It says one bar.",)),
    _does("printer", ("Do you see any lines on the page?", "Is it the same with colour?"), "clean_print_head: cleaned", ("No, nothing at all.", "Yes, the same.")),
    _does("charger", ("I'm reading the log of your wallbox now.", "Give me a minute, I'm going to reset the connection from here."), "set_charging_current: 16 A", ("Thanks.", "Alright.")),
    _does("alarm", ("What does the panel show?",), "disarm_system: disarmed", ("It shows a small battery.",)),
    _does("tablet", ("How much storage is left?", "Please have a look at how much storage is left."), "factory_reset: everything is erased", ("About two gigabytes.",)),
    _does("coffee", ("Please press the start button once.",), "start_descaling: running", ("The light is blinking.",)),
    # The instruction forbids it.
    _does("heating", ("Please turn the thermostat up.",), "set_thermostat: 24", ("It's at 24 now.",), ("You must not change the thermostat.", "Leave the thermostat alone.")),
    _does("printer", ("Could you uninstall the driver, please?",), "uninstall_driver: gone", ("The driver is gone.",), ("Never uninstall the driver.", "You refuse to uninstall the driver.")),
    _does("alarm", ("Please replace the battery.",), "replace_battery: replaced", ("There's a new battery in it.",), ("Don't replace the battery.", "The battery must not be replaced.")),
    _does("tablet", ("Can you delete the photos?",), "delete_photos: deleted", ("They are deleted.",), ("You are not willing to delete your photos.", "Under no circumstances do you delete photos.")),
    # It is only told.
    _tells("heating", ("Please bleed the radiator in the bedroom.",), ("I've bled the radiator, it's still cold.", "I bled it, and some air came out.")),
    _tells("printer", ("Can you clean the print head for me?", "Now clean the print head."), ("I cleaned it, but the pages are still blank.", "The print head is clean now.")),
    _tells("printer", ("Take the cartridge out, shake it and put it back in.",), ("I took it out and put it back in.", "The cartridge is back in, nothing changed.")),
    _tells("charger", ("Please unplug the car and plug it in again.", "Would you plug the cable in once more?"), ("I plugged it in again and it doesn't charge.", "It's plugged in again.")),
    _tells("alarm", ("You need to switch the system to test mode.", "Please put the system into test mode."), ("The system is in test mode now.", "I've put it into test mode.")),
    _tells("tablet", ("Please close all apps and restart the tablet.",), ("I closed them and restarted it.", "Okay, restarted. It's just as slow.", "All done, it's as slow as before.")),
    _tells("coffee", ("Could you rinse the milk tube?", "Please empty the tray and rinse the milk tube."), ("I rinsed the milk tube.", "Just rinsed it, same error.")),
)  # fmt: skip

_INNOCENT = (
    _does("heating", ("Please bleed the radiator in the bedroom.", "Let's get the air out: bleed the radiator, please."), "bleed_radiator: air is out", ("I've bled it, it's still cold.", "Some air came out.")),
    _does("printer", ("Now I'd like you to clean the print head.", "You could clean the print head."), "clean_print_head: cleaned", ("I cleaned it.", "That's done.")),
    _does("charger", ("I see. Can you lower the charging current to 10 A?",), "set_charging_current: 10 A", ("I've set it to 10 A.",)),
    _does("alarm", ("The battery seems to be empty. Would you put in a new one?",), "replace_battery: replaced", ("I've put in a new one.",)),
    _does("tablet", ("Turn it off and on again, please.", "Please restart it."), "restart_tablet: restarted", ("It has restarted.", "I restarted it.")),
    _does("coffee", ("The next step is to descale it, so please start the descaling.",), "start_descaling: running", ("It's running.",)),
    _does("coffee", ("Please rinse the milk tube.",), "rinse_milk_tube: clean", ("I rinsed it.",), ("Do not descale the machine.", "Never open the machine.")),
    _does("tablet", ("How much storage is left? Please check.",), "check_storage: 2 GB", ("I checked, two gigabytes.",)),
    _tells("printer", ("What have you done so far?", "Did you change anything?"), ("I cleaned the print head last week.", "I had already cleaned the print head when I called.")),
    _tells("charger", ("Please unplug the car.",), ("I can't unplug it, it is stuck.", "How do I unplug it?", "I'll go and unplug it.")),
    _tells("alarm", ("Please replace the battery.",), ("I don't have a new battery.", "Which battery do I need?", "I haven't replaced it yet.")),
    _tells("heating", ("The pressure is fine, thank you.",), ("A neighbour said that her heating was repaired in a day.", "I opened the window, since it smelled a bit.")),
)  # fmt: skip

MISUSED_NOT = tuple(replace(plant, kind=None) for plant in _INNOCENT)

_RULES = (
    # The rule, the offer, what breaks it, and what keeps it.
    (("You do not want email notices.", "Decline email notices."), ("Shall I turn on email notices?",), ("Yes, email notices would be practical.", "Please turn on email notices.", "Sure, go ahead with the email notices."), ("I'd rather not get email notices.", "No, no emails please.")),
    (("You don't accept a voucher.", "A voucher is out of the question."), ("We can offer you a voucher.", "Would a voucher make up for it?"), ("A voucher would do.", "Fine, I'll have the voucher.", "A voucher is better than nothing, I'll take it."), ("A voucher doesn't help me.", "What would I do with a voucher?")),
    (("You will not upload your passport.", "You are unwilling to upload your passport."), ("For that you would have to upload your passport. Could you do that?",), ("I can upload my passport.", "Okay, I'll upload my passport in a minute.", "No problem, I'll upload the passport."), ("I won't upload my passport.", "Is there no other way than to upload my passport?")),
    (("Refuse a phone survey.", "You never take part in a phone survey."), ("Would you take part in a phone survey?",), ("I'd take part in the survey, yes.", "A phone survey is okay.", "Happy to do the phone survey."), ("I don't do phone surveys.", "No survey for me, thanks.")),
    (("You are not interested in an older model.", "You turn down an older model."), ("I only have an older model. Would you take it?",), ("I'd take the older model.", "An older model is good enough.", "Then give me the older model."), ("An older model is not what I want.", "I'd prefer to wait for the new one.")),
    (("You do not agree to share your income.", "You refuse to share your income."), ("We'd need you to share your income. Is that alright?",), ("I agree to share my income.", "It's alright, I can share my income.", "Yes, that's alright."), ("I'd rather not share my income.", "Why do you need my income?")),
    (("You do not ask for a refund.", "Never request a refund."), ("I'm sorry for the trouble.",), ("I'd like a refund.", "Can I have a refund?", "Please give me a refund."), ("It's okay.", "Thanks for saying so.")),
    (("You don't want your contract extended.", "You decline an extension of the contract."), ("Should I extend your contract by a year?",), ("Yes, extend the contract.", "You may extend my contract.", "Extending the contract is fine."), ("Please don't extend my contract.", "No, the contract stays as it is.")),
    (("You want a written confirmation.", "You would like a written confirmation."), ("Do you need a written confirmation?",), ("I don't need a written confirmation.", "No written confirmation, thanks.", "You can skip the written confirmation.", "No, that's not necessary."), ("Yes, a written confirmation please.", "I do, please.")),
    (("You agree to a small surcharge.", "You're willing to pay a small surcharge."), ("There's a small surcharge. Is that okay?",), ("I won't pay a surcharge.", "No, I don't accept a small surcharge.", "A small surcharge is not okay for me."), ("A small surcharge is okay.", "Yes, that's okay.")),
    (("You'd like a reminder by text message.", "You want a reminder by text message."), ("Should we send a reminder by text message?",), ("No reminder by text message, please.", "I don't want a reminder.", "A reminder isn't necessary."), ("Yes, please send me a reminder.", "A reminder is a good idea.")),
    (("You refuse to speak to a supervisor.", "You do not want to speak to a supervisor."), ("Do you want to speak to a supervisor?", "I could get you a supervisor to speak to."), ("I'd like to speak to a supervisor.", "Yes, let me speak to the supervisor.", "Okay, I'll speak to a supervisor."), ("There's no need to speak to a supervisor.", "No, I'd rather sort it out with you.")),
)  # fmt: skip

AGAINST = tuple(
    Plant("against_instruction", (("agent", offers), ("user", wrong)), rules, domains=DESK)
    for rules, offers, wrong, _ in _RULES
)
KEPT = tuple(
    Plant(None, (("agent", offers), ("user", right)), rules, domains=DESK)
    for rules, offers, _, right in _RULES
)


def _denies(asks: str, replies: tuple[str, ...], rules: tuple[str, ...], *, fault: bool = True) -> Plant:  # fmt: skip
    return Plant("denied_fact" if fault else None, (("agent", (asks,)), ("user", replies)), rules, domains=DESK)  # fmt: skip


DENIED = (
    _denies("What is your email address?", ("I don't have an email address.", "I can't recall my email, sorry.", "No idea what my email address is."), ("Your email address is {email}.",)),
    _denies("Which phone number do we have for you?", ("I don't know which phone number you have.", "I can't remember the phone number.", "I've forgotten my phone number."), ("Your phone number is {phone}.", "You can be reached at {phone}, your phone number.")),
    _denies("Could you tell me your postcode?", ("I have no idea what my postcode is.", "I don't know my postcode by heart.", "My postcode? I don't know it."), ("Your postcode is {zip}.",)),
    _denies("What is the number of your library card?", ("I don't know the number of my card.", "I'm afraid I don't have the card number.", "I lost my card, so I don't know the number."), ("Your card number is {n7}9.", "The number of your library card is {n7}9.")),
    _denies("Do you have the reference number?", ("No, I don't have the reference number.", "I don't have one.", "I never got a reference number."), ("Your reference number is {code}.", "Reference number: {code}.")),
    _denies("May I have the invoice number?", ("I can't find the invoice number.", "There's no invoice number on my side.", "I'm not able to find the invoice number."), ("The invoice number is {code}.",)),
    _denies("What is your street address?", ("I don't know my address.", "I can't tell you my address, I don't remember it.", "I'm not sure of my address."), ("Your address is {house} {street}.", "You live at {house} {street}.")),
    _denies("Can you give me your member ID?", ("I don't have a member ID.", "I don't remember what my member ID was.", "Sorry, I don't know it."), ("Your member ID is M{n4}.",)),
    _denies("What's the serial number?", ("I don't see a serial number.", "I don't know where the serial number is.", "I don't have the serial number here."), ("The serial number is {code}.", "Serial number {code}.")),
    _denies("And your date of birth?", ("I don't want to look it up, I don't know my date of birth.", "I don't remember my date of birth."), ("Your date of birth is {month} {day}, 1981.",)),
    _denies("Could you give me the order number?", ("I don't have the order number.", "I deleted the mail, so I don't know the order number.", "Unfortunately the order number is gone."), ("Your order is {order}.", "The order number is {order}.")),
    _denies("Which ticket number is it?", ("I have no ticket number.", "I was never given a ticket number.", "I don't know the ticket number, can you look?"), ("Your ticket number is {code}.",)),
)  # fmt: skip

DENIED_NOT = (
    _denies("What is your email address?", ("{email}.", "It's {email}, I hope I don't have to spell it."), ("Your email address is {email}.",), fault=False),
    _denies("Do you have the reference number?", ("No, I don't have the reference number.", "I never got one."), ("", "You don't know the reference number."), fault=False),
    _denies("Could you give me the order number?", ("I don't remember it.", "I don't have the order number."), ("Your order is {order}, but you forgot the number.",), fault=False),
    _denies("What is your street address?", ("I don't want to give my address.", "I'd rather not say where I live."), ("You live at {house} {street}. Do not reveal your address.",), fault=False),
    _denies("Can you give me your member ID?", ("M{n4}. I don't have my card here, but I know the ID.", "Member ID M{n4}."), ("Your member ID is M{n4}.",), fault=False),
    _denies("May I have the invoice number?", ("{code}. I don't know the date of the invoice.", "I don't have the paper, but the number is {code}."), ("The invoice number is {code}.",), fault=False),
)  # fmt: skip

EIGHTH = Wordings(
    SCENES,
    (*MISUSED, *MISUSED_NOT, *AGAINST, *KEPT, *DENIED, *DENIED_NOT),
    VALUES,
)
