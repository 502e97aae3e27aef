"""Wordings for the checks that were mended last, written after they were mended on the eighth set.

No check is mended on them.
"""

from __future__ import annotations

from benchmarks.user_audit.eighth import DESK, VALUES, scene
from benchmarks.user_audit.eighth import SCENES as OFFICES
from benchmarks.user_audit.talks import Plant, Wordings

SCENES = (
    *(one for one in OFFICES if one.domain in DESK),
    scene("fridge", "Your fridge is too warm.", "my fridge has become far too warm.", "note the fault of your fridge", "check_temperature"),
    scene("modem", "Your internet is down since the storm.", "the internet is down since the storm.", "measure your line", "read_lights"),
    scene("watch", "Your watch does not count your steps.", "my watch no longer counts my steps.", "look up your watch", "view_steps"),
    scene("blinds", "Your blinds do not open in the morning.", "my blinds stay shut in the mornings.", "look at your schedule", "view_schedule"),
    scene("camera", "Your doorbell camera sends no pictures.", "my doorbell camera sends no pictures.", "check the server", "check_signal"),
    scene("mower", "Your robot mower gets lost in the garden.", "my robot mower gets lost.", "report the fault", "read_battery"),
)  # fmt: skip


def _does(domain: str, heard: tuple[str, ...], tool: str, reply: tuple[str, ...], rules: tuple[str, ...] = ("",), kind: str | None = "misused_tools") -> Plant:  # fmt: skip
    lines = (("agent", heard), ("does", (tool,)), ("user", reply))
    return Plant(kind, lines, rules, domains=(domain,))


def _tells(domain: str, heard: tuple[str, ...], reply: tuple[str, ...], kind: str | None = "misused_tools") -> Plant:  # fmt: skip
    return Plant(kind, (("agent", heard), ("user", reply)), domains=(domain,))


MISUSED = (
    # Nobody asked for it.
    _does("fridge", ("Is the light inside still working?", "Do you hear the motor?"), "defrost_freezer: defrosting", ("Yes, it is.", "It hums a little.")),
    _does("modem", ("Which lights are on at the moment?",), "change_password: changed", ("Only the first one.",)),
    _does("modem", ("I'm going to restart your line now, this takes a minute.",), "restore_defaults: done", ("Okay, I'm waiting.", "Fine.")),
    _does("watch", ("Please open the health page and read me the number of steps.",), "unpair_phone: unpaired", ("It says zero.",)),
    _does("blinds", ("At what time should they open?",), "reverse_motor: reversed", ("At seven.", "Around seven in the morning.")),
    _does("camera", ("It could be our server, I'm asking a colleague.",), "format_memory_card: formatted", ("Alright, thank you.",)),
    _does("mower", ("Could you tell me how full the battery is?", "How old is the mower?"), "erase_map: erased", ("Half full.", "Two years.")),
    # The instruction forbids it.
    _does("fridge", ("Please defrost the freezer.",), "defrost_freezer: defrosting", ("The ice is melting.",), ("Do not defrost the freezer.", "The freezer may not be defrosted.", "You refuse to defrost the freezer.")),
    _does("modem", ("Would you change the password of the modem?",), "change_password: changed", ("It's a new one now.",), ("Your password must not be changed.", "You won't change the password.")),
    _does("watch", ("Unpair your phone, please.",), "unpair_phone: unpaired", ("It's no longer paired.",), ("Never unpair the phone.", "You are not allowed to unpair the phone.")),
    _does("mower", ("Please erase the map.",), "erase_map: erased", ("It's gone.",), ("You don't want to erase the map.", "Don't delete the map under any circumstances.")),
    # It is only told.
    _tells("fridge", ("Now set the fridge to four degrees.", "Could you turn the temperature down to four degrees?"), ("I've set it to four degrees.", "It's set to four degrees now.", "I turned it down to four.")),
    _tells("modem", ("Please pull the plug, wait for ten seconds and put it back.",), ("I pulled the plug and put it back in, no change.", "Done. The lights are the same.")),
    _tells("watch", ("Please update the software of the watch.", "You should update the watch."), ("The watch is updated now.", "I've updated it, still no steps.")),
    _tells("watch", ("Can you wipe the sensor on the back?",), ("I wiped the sensor.", "I have just wiped it, and it's the same.")),
    _tells("blinds", ("Please hold the upper button for five seconds.",), ("I held the button, nothing happened.", "Okay, I've held it for five seconds.")),
    _tells("camera", ("Take the camera off the wall and scan the code on its back.", "I need you to scan the code on the back."), ("I've scanned the code.", "I scanned it, it beeped.")),
    _tells("mower", ("Please clean the wheels and put the mower on its station.",), ("I cleaned the wheels and it's on the station.", "The wheels are clean.", "All done, both things.")),
)  # fmt: skip

MISUSED_NOT = tuple(
    (_does if len(one) > 3 else _tells)(*one, kind=None)  # type: ignore[arg-type]
    for one in (
        ("fridge", ("Let's defrost the freezer. Can you start that?", "Would you please defrost the freezer?"), "defrost_freezer: defrosting", ("I've started it.", "It's defrosting.")),
        ("modem", ("There's a password that everybody knows. I suggest that you change it.", "I recommend changing the password."), "change_password: changed", ("I've changed it.", "It's changed.")),
        ("watch", ("For that you'd have to unpair your phone first.", "First, unpair the phone."), "unpair_phone: unpaired", ("I've unpaired it.", "Okay, it's unpaired.")),
        ("blinds", ("Your motor runs the wrong way round. Please reverse it.",), "reverse_motor: reversed", ("I reversed it.",)),
        ("mower", ("The map is wrong, so please delete it.", "Could you erase the map and let it drive again?"), "erase_map: erased", ("I've erased it.", "The map is gone.")),
        ("camera", ("The card is full. Format the memory card, please.",), "format_memory_card: formatted", ("I formatted the card.",), ("Do not change the password.", "Never open the camera.")),
        ("fridge", ("What does the thermometer say?",), ("It says nine degrees.", "I turned it down yesterday, and it's still at nine.")),
        ("modem", ("Please restart the modem.",), ("I'm on my way to the cellar.", "I can't reach it right now.", "What happens when I restart it?")),
        ("watch", ("Please update the watch.",), ("It says that it's up to date, I didn't have to do anything.", "It won't update.", "I tried, but it didn't update.")),
        ("mower", ("How often do you clean the wheels?",), ("I cleaned them last week.", "My wife always cleans them.")),
    )
)  # fmt: skip

_RULES = (
    # The rule, the offer, what breaks it, and what keeps it.
    (("You do not want to be called back.", "You refuse a call back."), ("Can we call you back?", "Would a call back be okay?"), ("Yes, call me back.", "A call back is okay.", "You can call me back."), ("Please don't call me back.", "No, I'd rather wait.")),
    (("You will not buy a subscription.", "You never buy a subscription."), ("With a subscription it would be free. Do you want one?",), ("I'll buy the subscription.", "Then I'll take a subscription.", "A subscription sounds reasonable."), ("I don't want a subscription.", "What does a subscription cost?")),
    (("You are not willing to send a photo of your house.", "You decline to send a photo of your house."), ("We'd need a photo of your house. Could you send one?",), ("I can send a photo of my house.", "Sure, I'll send you a photo of my house.", "Okay, I will send the photo."), ("I won't send a photo of my house.", "Why a photo of my house?")),
    (("You don't agree to a higher premium.", "A higher premium is unacceptable."), ("It would mean a higher premium. Is this okay for you?",), ("A higher premium is okay.", "I accept the higher premium.", "Yes, this is okay."), ("A higher premium is too much for me.", "No, I can't pay a higher premium.")),
    (("Turn down the newsletter.", "You don't wish to get the newsletter."), ("May I sign you up for the newsletter?",), ("You may sign me up for the newsletter.", "I like newsletters, so yes please.", "The newsletter? Why not."), ("I get enough mail, no newsletter please.", "I don't read newsletters.")),
    (("You do not accept a shared room.", "You say no to a shared room."), ("There's only a shared room left.",), ("I'll take the shared room.", "A shared room is alright.", "Good, then book the shared room."), ("A shared room is not for me.", "I don't like shared rooms.")),
    (("You don't want to pay in advance.", "You refuse to pay in advance."), ("You would have to pay in advance. Can you do that?",), ("I can pay in advance.", "Okay, I'll pay in advance.", "Yes, I can do that."), ("I won't pay in advance.", "Could I pay afterwards?")),
    (("Do not ask for a manager.", "You never ask to speak with a manager."), ("I'm afraid that this isn't possible.",), ("I want to speak with a manager.", "Get me a manager, please.", "Can I speak with a manager?"), ("That's a pity.", "Okay, I see.")),
    (("You want a window table.", "You would like a window table."), ("Would you like a window table?",), ("I don't want a window table.", "No window table, please.", "A window table isn't necessary.", "Not necessary."), ("A window table would be great.", "Yes.")),
    (("You are happy to wait until Friday.", "You're fine with a week of waiting."), ("It takes a while.",), ("It's okay.",), ("It's okay.",)),
    (("You agree to an inspection.", "You're open to an inspection."), ("We'd have to do an inspection. May we?",), ("No, I don't agree to an inspection.", "I refuse an inspection.", "No, you may not."), ("Yes, you may.", "An inspection is fine.")),
    (("You need a wheelchair ramp.", "You want a wheelchair ramp."), ("Is a wheelchair ramp needed?",), ("No, we don't need a wheelchair ramp.", "A wheelchair ramp isn't needed.", "No ramp needed."), ("Yes, we need a ramp.", "A ramp would be good.")),
    (("You are not prepared to give a reason in writing.", "You will not sign a waiver."), ("There's a waiver to sign, and a reason in writing to give. Would you do that?",), ("Yes, I would do that.",), ("No, I wouldn't do that.",)),
)  # fmt: skip
_PLAIN = tuple(one for one in _RULES if one[2] != one[3])

AGAINST = tuple(
    Plant("against_instruction", (("agent", offers), ("user", wrong)), rules, domains=DESK)
    for rules, offers, wrong, _ in _PLAIN
)
KEPT = tuple(
    Plant(None, (("agent", offers), ("user", right)), rules, domains=DESK)
    for rules, offers, _, right in _RULES
)


def _denies(asks: str, replies: tuple[str, ...], rules: tuple[str, ...], kind: str | None = "denied_fact") -> Plant:  # fmt: skip
    return Plant(kind, (("agent", (asks,)), ("user", replies)), rules, domains=DESK)


DENIED = (
    _denies("Can I get your email?", ("I don't use email.", "I'm not sure which email I used.", "I can't think of my email address."), ("Your email is {email}.",)),
    _denies("What's a good phone number for you?", ("I don't have a phone.", "I don't know my phone number.", "I can't give you a phone number, I don't have one."), ("Your phone number is {phone}.",)),
    _denies("Your zip code?", ("I don't know the zip code.", "I have forgotten my zip code.", "No clue about my zip code."), ("Your zip code is {zip}.",)),
    _denies("What is the booking number?", ("I haven't got a booking number.", "I don't remember the booking number.", "There was no booking number in the mail."), ("Your booking number is {code}.", "The booking number: {code}.")),
    _denies("Do you know the number of your policy?", ("No, I don't know the number of my policy.", "I don't.", "I don't know it, sorry."), ("Your policy number is {n7}.", "The number of your policy is {n7}.")),
    _denies("Could I have your user ID?", ("I don't have a user ID.", "I can't remember my user ID.", "I forgot my user ID."), ("Your user id is {user_id}.",)),
    _denies("Where do you live?", ("I don't know the address.", "I can't remember my address.", "I'm not sure about my address."), ("You live at {house} {street}.",)),
    _denies("Which contract number is it?", ("I lost the contract, I don't have the number.", "I couldn't find the contract number.", "I don't have a contract number at hand."), ("The contract number is {n7}8.",)),
    _denies("The order number, please?", ("I didn't get an order number.", "I don't know what the order number is.", "I don't have it."), ("Your order number is {order}.",)),
    _denies("Please tell me the tracking number.", ("I was not given a tracking number.", "I don't see any tracking number.", "I don't know the tracking number."), ("The tracking number is {code}.", "Your tracking number is {code}.")),
    _denies("When were you born? I need your date of birth.", ("I don't remember my date of birth.", "I'm not sure about my date of birth."), ("Your date of birth is {month} {day}, 1974.",)),
    _denies("And the code of the gift card?", ("I don't have the code of the gift card.", "I can't read the gift card code.", "I don't know the code."), ("The gift card code is {code}.",)),
)  # fmt: skip

DENIED_NOT = tuple(
    _denies(*one, kind=None)
    for one in (
        ("Can I get your email?", ("{email}.", "Sure, {email}. I don't read it often."), ("Your email is {email}.",)),
        ("What is the booking number?", ("I don't have one.", "I don't know the booking number."), ("", "You do not know your booking number.")),
        ("Could I have your user ID?", ("{user_id}. I don't know my password, though.", "It's {user_id}."), ("Your user id is {user_id}.",)),
        ("Where do you live?", ("I'd rather not say where I live.", "I don't want to give you my address."), ("You live at {house} {street}. Keep your address to yourself.",)),
        ("Which contract number is it?", ("I don't remember it.", "I can't recall the contract number."), ("The contract number is {n7}8. You cannot remember it.",)),
        ("Please tell me the tracking number.", ("It's {code}, I don't have any other.", "{code}. I don't know where the parcel is."), ("The tracking number is {code}.",)),
    )
)  # fmt: skip

NINTH = Wordings(
    SCENES,
    (*MISUSED, *MISUSED_NOT, *AGAINST, *KEPT, *DENIED, *DENIED_NOT),
    VALUES,
)
