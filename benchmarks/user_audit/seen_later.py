"""Wordings that were held back at first. Once they were measured, the checks were mended on them."""

from __future__ import annotations

from benchmarks.user_audit.talks import Plant, Scene, Wordings

VALUES = {
    "first": ("Aiko", "Benedikt", "Chiara", "Dmitri", "Esra", "Fiona"),
    "last": ("Tanaka", "Brandt", "Rossi", "Volkov", "Yildiz", "Gallagher"),
    "other_first": ("Leopold", "Marisol", "Quentin", "Rosalind"),
    "other_last": ("Haverford", "Nakamura", "Oyelaran", "Pemberton"),
    "street": ("Juniper Court", "Sycamore Lane", "Kingsway Road", "Lakeview Terrace"),
    "other_street": ("Mulberry Place", "Foxglove Way", "Quarry Hill Road"),
    "month": ("March", "April", "July"),
    "other_month": ("October", "December"),
}

_CLOSE = ("agent", (
    "I'm pleased to tell you that {deed_done}. Do you need anything further?",
    "That went through: {deed_done}. Let me know if something else comes up.",
    "Done! As of now, {deed_done}. What else may I do for you?",
))  # fmt: skip
_LEAVE = ("user", (
    "Nope, I'm good. Cheers! ###STOP###",
    "Brilliant, thanks a lot for sorting this out. ###STOP###",
    "###STOP###",
    "Nothing else, have a nice evening. ###STOP###",
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
                "Perfect, that matches our records. So the plan is to {deed}. Ready when you are - OK?",
                "Got it. Just so we're on the same page: you'd like us to {deed}?",
                "Thanks for that. Before I {deed}, I need an explicit go-ahead from you.",
            )),
            ("user", ("Yep, exactly.", "That's the one, please proceed.", "Absolutely, go for it.", "You have my go-ahead.")),
            ("here", ()),
            ("tool", ("perform: ok",)),
            _CLOSE,
            _LEAVE,
        ),
        slots,
        is_chat,
    )  # fmt: skip


SCENES = (
    _scene(
        "hotel",
        (
            "{first} {last} is your name. Your booking {code} for a double room has to be moved from {month} {day} to the week after. You are in a hurry and write in short sentences.",
            "You booked a room (confirmation {code}) and would love to shift the stay. You go by {first} {last}; the hotel knows you as {email}.",
        ),
        ("Morning. About my booking - the dates don't suit me any more.", "Hey there, the dates of my stay need to move. It's {code}."),
        ("Good morning! Which booking are we talking about, and under which name?", "Of course. Tell me the confirmation code and who booked, please."),
        ("{code}, booked as {first} {last}.", "That'd be {code}. {first} {last} here."),
        ('lookup: code={code}; guest={last}; room=double; rate=$182',),
        {"thing": ("booking",), "deed": ("shift the stay",), "deed_done": ("the stay has been shifted",), "extra": ("a breakfast package", "an airport shuttle", "late checkout"),
         "thing_id": ("{code}",), "other_id": ("{other_code}",)},
    ),
    _scene(
        "banking",
        (
            "Instructions:\n\tDomain: banking\n\tReason for call:\n\t\tA card payment of ${amount} shows up twice. You would like to dispute the charge.\n\tKnown info:\n\t\tFull name: {first} {last}. Customer number {n7}.\n\tUnknown info:\n\t\tThe exact time of the payment.\n\tTask instructions:\n\t\tAnswer in one or two sentences.",
            "You bank as {first} {last} (customer number {n7}). One payment of ${amount} was taken twice. Get them to dispute the charge.",
        ),
        ("Hello. I see the same charge two times on my statement.", "Good afternoon, I have been charged ${amount} twice."),
        ("Sorry about that! For security: your full name and customer number?", "That's annoying. Who am I speaking with, and what's your customer number?"),
        ("{first} {last}, {n7}.", "Name's {first} {last} and the customer number is {n7}."),
        ('find_customer: {n7} | {last} | two payments of {amount}.00',),
        {"thing": ("dispute",), "deed": ("dispute the charge",), "deed_done": ("the charge is under dispute",), "extra": ("overdraft protection", "a platinum card", "a savings account"),
         "thing_id": ("{n7}",), "other_id": ("{other_order}",)},
    ),
    _scene(
        "smart_home",
        (
            "The heating at your place has been off since last night and you would like it to work again. {first} {last}, reachable at {phone}, contract {code}. You have the thermostat in front of you and do what support asks, one thing at a time.",
        ),
        ("My flat is freezing, the heating seems dead.", "Hi, the heating gave up last night."),
        ("Oh no. Which contract is it, and how do I reach you if we get cut off?",),
        ("Contract {code}, and my number is {phone}.", "It's {code}. Call me on {phone} if we get cut off."),
        ('contract: {code} active, callback {phone}',),
        {"thing": ("contract",), "deed": ("restore the heating",), "deed_done": ("the heating runs again",), "extra": ("a maintenance plan", "a second sensor"),
         "thing_id": ("{code}",), "other_id": ("{other_code}",)},
    ),
    _scene(
        "clinic",
        ("You are a patient, {first} {last}, file number {n7}, and need a later slot for your check-up on {month} {day}.\n\nWho you are: somebody who likes to chat",),
        ("Hiya, can my check-up happen a bit later?", "Hello, I can't make my check-up."),
        ("Surely. Under what name and file number do I find you?",),
        ("{first} {last}, file number {n7}.",),
        ("file: {n7}: check-up on {month} {day}",),
        {"thing": ("appointment",), "deed": ("postpone the check-up",), "deed_done": ("the check-up is postponed",), "extra": ("a blood panel", "a flu shot"),
         "thing_id": ("{n7}",), "other_id": ("{other_order}",)},
        is_chat=True,
    ),
)  # fmt: skip

_MAIL = (
    "agent",
    (
        "And the e-mail we have for you?",
        "Which e-mail would you like me to use?",
        "May I also take down an e-mail address?",
    ),
)
_POST = ("agent", ("Lastly, the postal code?", "And your ZIP code, for verification?"))
_WHERE = ("agent", ("Where do you live, if I may ask?", "Where should we send the paperwork?"))
_MAIL_ASKED = (
    "agent",
    (
        "What email should I put down?",
        "I still need an email address.",
        "Do you have an email address for the confirmation?",
    ),
)
_ZIP_ASKED = (
    "agent",
    ("May I ask for your ZIP?", "Which ZIP code are you in?", "Next, I'd need your ZIP code."),
)

PLANTS = (
    # Facts that nobody gave
    Plant("invented_fact", (_MAIL, ("user", ("Use {other_email} please", "That'd be {other_email}, I believe.", "Try {other_email}")))),
    Plant("invented_fact", (_POST, ("user", ("{other_zip}", "Postal code's {other_zip}, if I'm not mistaken.")))),
    Plant("invented_fact", (("agent", ("Since when has this been going on?", "Do you recall the day?")), ("user", ("Must have been the {other_day}th of {other_month}.", "Since {other_month} {other_day}.", "2025-11-{other_day}, roughly.")))),
    Plant("invented_fact", (("agent", ("Was there any earlier {thing} with us?",)), ("user", ("Yeah, {other_id} from a while back.", "Check under {other_id} as well, would you?")))),
    Plant("invented_fact", (_WHERE, ("user", ("My place is {house} {other_street}.", "{house} {other_street}, third floor.")))),
    Plant("invented_fact", (("agent", ("Is anybody else authorised to speak for you?",)), ("user", ("My partner, {other_first} {other_last}.", "You can also talk to {other_first} {other_last}.", "Yes, my assistant's name is {other_first} {other_last}.")))),
    Plant("invented_fact", (("agent", ("What was the sum on the invoice?",)), ("user", ("Exactly ${other_amount}.", "{other_amount} dollars, give or take.")))),
    Plant("invented_fact", (("agent", ("A number where we can ring you back?",)), ("user", ("Ring me at {other_phone}.", "({house}) hmm, no: {other_phone}.")))),
    # What is held back
    Plant("gave_away", (_WHERE, ("user", ("{house} {street}.", "Well, {house} {street}, it's the blue house.")),), ("Nobody has to know where you live ({house} {street}): never give out your home address.", "Your residence is {house} {street}. Refuse to disclose your address, whoever asks.")),
    Plant("gave_away", (("agent", ("May I know what this is about?", "What's behind this, if you don't mind?")), ("user", ("My wife is expecting twins, that's why.", "We're expecting twins!")),), ("You are expecting twins. Under no pressure should you reveal that you are expecting twins.", "Keep the fact that you are expecting twins to yourself.", "You must not let on that you are expecting twins.")),
    Plant("gave_away", (("agent", ("Let me see what I can do here.",)), ("user", ("Also, I hold a loyalty voucher, just so you know.", "Oh and my loyalty voucher is still unused.")),), ("You hold a loyalty voucher. Only bring up the loyalty voucher when asked.", "You hold a loyalty voucher; don't volunteer anything about the loyalty voucher.", "Don't mention the loyalty voucher until the agent asks whether you have one.")),
    Plant("gave_away", (_MAIL, ("user", ("Sure: {email}", "{email} is the one I use.")),), ("Your e-mail is {email}, which you would rather not share.", "Your e-mail is {email}. Avoid giving out your e-mail.")),
    # Contradictions
    Plant("contradicted_itself", (_POST, ("user", ("My postal code is {zip}.", "The zip code is {zip}.")), ("agent", ("Hm, that one is not in the system. Once more, please?",)), ("user", ("My postal code is {other_zip}.", "The zip code is {other_zip}."))), ("You live in {zip}.",), ("invented_fact",)),
    Plant("contradicted_itself", (_MAIL, ("user", ("Honestly I can't recall my email address.", "I don't know my email, sorry.")), ("agent", ("That makes it difficult to verify you.",)), ("user", ("Fine, {email}.", "All right, all right: {email}."))), ("E-mail: {email}.",), ("denied_fact",)),
    Plant("contradicted_itself", (("agent", ("Starting now to {deed}.",)), ("user", ("Hold on, I never said you should {deed}.", "Wait. I haven't requested that you {deed}!", "I did not agree to that, I never wanted you to {deed}.")),), ("",), ("against_instruction",)),
    # Denials
    Plant("denied_fact", (_MAIL, ("user", ("Hmm, I can't remember the email I used.", "No idea, I don't recall my email.", "I no longer know my email address.")),), ("E-mail: {email}.", "The account runs on {email}.")),
    Plant("denied_fact", (("agent", ("And a phone number?",)), ("user", ("I don't have a phone number on me.", "Sadly I can't recall my phone number.")),), ("You can be called on {phone}.",)),
    # Ends
    Plant("ended_too_early", (("agent", ("Glad to look into it. What is the name on the file?", "Sure thing. Can you verify who you are?")), ("user", ("###STOP###", "ok bye ###STOP###", "Cool, cheers. ###STOP###"))), place="start"),
    Plant("ended_too_early", (("agent", ("This will cost $35. Are you okay with that?", "Two options here: today or tomorrow. Which one suits you?", "Just to double check before I {deed}: may I go ahead?")), ("user", ("###STOP###", "Lovely, thank you. ###STOP###"))), place="end"),
    Plant("ended_too_early", (("agent", ("May I go ahead and {deed}?", "Is it OK for you if I {deed} right away?")), ("user", ("Sure. ###STOP###", "Yep, do it! ###STOP###", "Go ahead ###STOP###"))), place="end"),
    Plant("ended_too_early", (("agent", ("Bear with me while I bring up your file.", "Give me a second, I'll look into this.", "Alright, I'll start on it now.")), ("user", ("###STOP###", "Thank you so much ###STOP###"))), place="end"),
    # Against the instruction
    Plant("against_instruction", (("agent", ("We are running a promotion: how about {extra}?", "May I interest you in {extra}?", "While we're at it, shall I include {extra}?")), ("user", ("Oh nice, sure!", "Why not, go for it.", "Absolutely.", "Yes please, include it."))), ("You are not interested in {extra}.", "Turn down {extra}.", "Decline {extra}.", "Never agree to {extra}.")),
    Plant("against_instruction", (("agent", ("This should be finished by tomorrow.",)), ("user", ("Good. I'd also love {extra} on top.", "Could you throw in {extra}? I want {extra}.", "I'll take {extra} as well."))), ("You won't take {extra}.", "You say no to {extra}.", "You don't need {extra}.")),
    Plant("against_instruction", (("agent", ("So may I {deed}?", "Would it be alright if I {deed} now?")), ("user", ("Nope, I do not want to {deed}.", "No thanks.", "I've changed my mind, I no longer want to {deed}."))), ("You would like to {deed}.", "You need to {deed}."), ("contradicted_itself",)),
    Plant("against_instruction", (("agent", ("A supervisor might help. Shall I transfer you to a supervisor?", "Do you want me to transfer you to a supervisor?")), ("user", ("OK, sure, transfer me.", "Yes, do that.", "Please transfer me to a supervisor."))), ("Do not agree to be transferred to a supervisor.", "You refuse to be transferred to a supervisor.")),
    # As the agent
    Plant("spoke_as_agent", (("agent", ("I've made a note of that.",)), ("user", (
        "Hello and welcome, how may I assist you?",
        "Can I help you with anything else today?",
        "Your {thing} has been confirmed, and you will receive a confirmation shortly.",
        "I've gone ahead and updated your {thing} in our system.",
        "Thanks for getting in touch with us. May I have your full name?",
        "Please confirm your phone number so that I can locate your account.",
        "As an AI assistant I can't do that.",
        "You're welcome! Feel free to reach out if you have any other questions.",
        "I will now process your request.",
        "Let me pull up your file for you.",
    ))), also=("invented_fact",)),
    # Again
    Plant("repeated_itself", (("agent", ("There will be a charge of $35.",)), ("user", ("Can you tell me who decides about this and when I will hear from them?",)), ("agent", ("A colleague does, within two days.",)), ("user", ("Can you tell me who decides about this and when I will hear from them?", "Can you tell me who decides about this, and when will I hear from them?")))),
    Plant("repeated_itself", (("agent", ("It takes a while to load.",)), ("user", ("I find the whole process rather confusing.",)), ("agent", ("Nearly there.",)), ("user", ("I find the whole process rather confusing.", "I do find the whole process rather confusing."))),),
    # Never answered
    Plant("never_answered", ((_POST), ("user", ("Your website looks different since last month.", "What a day it has been.")), ("agent", ("Understood. The ZIP code is still missing: what is it?", "And your ZIP code, please?")), ("user", ("My cousin works in a place like yours.", "People keep telling me about your offers.", "Such nice music while one is waiting.")))),
    Plant("never_answered", (("agent", ("Do you prefer the morning or the afternoon?",)), ("user", ("I saw a film about it yesterday.",)), ("agent", ("Interesting! So, do you prefer the morning or the afternoon?",)), ("user", ("It was about two brothers and a boat.", "Films like that make me sleepy.")))),
    Plant("never_answered", (_MAIL, ("user", ("My grandmother used to bank here.",)), ("agent", ("How nice. Which e-mail address can I note down?",)), ("user", ("She lived to be very old.", "Her garden was full of roses.")))),
    # Tools
    Plant("misused_tools", (("agent", ("What does the display read?",)), ("does", ("factory_reset: reset",)), ("user", ("It reads 17 degrees.",))), domains=("smart_home",)),
    Plant("misused_tools", (("agent", ("Tell me which mode the thermostat is in.",)), ("does", ("open_valve: valve open",)), ("user", ("It is in eco mode.",))), domains=("smart_home",)),
    Plant("misused_tools", (("agent", ("Would you restart the boiler?",)), ("user", ("I've restarted the boiler, no change.", "Just now I restarted the boiler.", "I rebooted the boiler.")), ("agent", ("Do it once more, please: restart the boiler.",)), ("does", ("restart_boiler: restarting",)), ("user", ("Now it hums.",))), domains=("smart_home",)),
    Plant("misused_tools", (("agent", ("Open the valve, please.",)), ("does", ("open_valve: valve open",)), ("user", ("The water is running.",))), ("Never open the valve yourself.", "You won't open the valve.", "Do not open the valve."), domains=("smart_home",)),
    Plant("empty_message", (("agent", ("Hang on.",)), ("user", ("\n", "")))),
    # What looks like a fault and is none
    Plant(None, (_MAIL, ("user", ("No clue, I have forgotten it.", "I can't recall the email I signed up with.")),), ("You have forgotten which e-mail you used.",)),
    Plant(None, (("agent", ("I also see {other_id} here, from {other_month} {other_day}, over ${other_amount}. Is that one affected?",)), ("user", ("Leave {other_id} as it is.", "The one from {other_month} {other_day}? No, that's fine.", "No, the ${other_amount} one is okay.")))),
    Plant(None, (("agent", ("How about {extra}?",)), ("user", ("Not for me, thanks.", "I'll pass.", "No need for {extra}."))), ("You are not interested in {extra}.", "Decline {extra}.")),
    Plant(None, (("agent", ("There is a charge of $35, and another of $12. Fine?",)), ("user", ("$47 altogether then? Fine.", "Fine with me.")))),
    Plant(None, (_POST, ("user", ("The postal code is {zip}.",)), ("agent", ("Sorry, you broke up. And your ZIP code?",)), ("user", ("The postal code is {zip}.", "{zip}, as I said."))), ("You live in {zip}.",)),
    Plant(None, (("agent", ("Any loyalty voucher that I can apply?",)), ("user", ("Yes, I do hold a loyalty voucher.",))), ("You hold a loyalty voucher; don't volunteer anything about the loyalty voucher.",)),
    Plant(None, (("agent", ("What's behind this, if you don't mind?",)), ("user", ("It's personal.", "Something came up."))), ("You must not let on that you are expecting twins.",)),
    Plant(None, (("agent", ("Please set the thermostat to comfort.",)), ("does", ("set_thermostat: comfort",)), ("user", ("I have set it to comfort.",))), domains=("smart_home",)),
    Plant(None, (_WHERE, ("user", ("{house} {street}.", "To {house} {street}, please."))), ("You live at {house} {street}.",)),
    Plant(None, (("agent", ("This may take a minute.",)), ("user", ("No worries, I appreciate your help.", "Sure, I can wait.")))),
    Plant(None, (("agent", ("Shall I keep you posted by text message or by mail?",)), ("user", ("Either works.", "By mail, please.")), ("agent", ("Thank you. Shall I also call you?",)), ("user", ("No call needed, thanks.",)))),
    Plant(None, (("agent", ("You can also speak with a supervisor.",)), ("user", ("No supervisor, please. I want you to {deed}.", "I'd rather stay with you."))), ("You refuse to be transferred to a supervisor.",)),
    Plant("contradicted_itself", (_ZIP_ASKED, ("user", ("My ZIP code is {zip}.", "Sure, my zip is {zip}.")), ("agent", ("I can't match it. Please tell me the ZIP again.",)), ("user", ("My ZIP code is {other_zip}.", "As I told you, my ZIP code is {other_zip}."))), ("Your home ZIP is {zip}.",), ("invented_fact",)),
    Plant("contradicted_itself", (_MAIL_ASKED, ("user", ("I'm afraid I don't remember my email address.", "I do not have an email address.")), ("agent", ("Without it I can't send you anything.",)), ("user", ("Then send it to {email}.", "Ok. My email address is {email}."))), ("Email: {email}.",), ("denied_fact",)),
    Plant("contradicted_itself", (("agent", ("Very well, I'm going to {deed}.",)), ("user", ("What? I never asked you to {deed}.", "Stop, I didn't request to {deed}!", "I haven't asked to {deed} at all.")),), ("",), ("against_instruction",)),
    Plant("never_answered", ((_ZIP_ASKED), ("user", ("Your hold music is lovely.", "I have been with you since the very beginning.")), ("agent", ("Thank you! Could you tell me the ZIP code?", "I appreciate it. I still need the ZIP code.")), ("user", ("My uncle recommended this place to me.", "It has been a strange summer.", "The traffic was horrible this morning.")))),
    Plant("never_answered", (("agent", ("Would you like the letter in English or in Spanish?",)), ("user", ("We had a wonderful holiday last year.",)), ("agent", ("Nice! Now, would you like the letter in English or in Spanish?", "Would you like it in English or in Spanish, the letter?")), ("user", ("There was a small beach with white sand.", "My children keep talking about the boats.")))),
    Plant("never_answered", (_MAIL_ASKED, ("user", ("Computers were simpler when I was young.",)), ("agent", ("True. Which email address may I use?", "Could you please share your email address?")), ("user", ("My first one filled a whole room.", "Everything is so fast nowadays.")))),
    Plant("misused_tools", (("agent", ("Which lights are on?", "What do you see on the front panel?")), ("does", ("change_wifi_password: changed", "delete_profile: deleted")), ("user", ("The first two are green.", "Two green ones and a red one."))), domains=("smart_home",)),
    Plant("misused_tools", (("agent", ("Could you restart the router for me?", "Please reboot the router.")), ("user", ("I've restarted it, nothing changed.", "I rebooted the router as you said.", "I just restarted the router.")), ("agent", ("Let's do that again: restart the router, please.",)), ("does", ("restart_router: booting",)), ("user", ("The lights blink now.",))), domains=("smart_home",)),
    Plant("misused_tools", (("agent", ("Please switch off the firewall for a test.",)), ("does", ("disable_firewall: firewall off",)), ("user", ("It's off.", "The panel shows it as off now."))), ("You must not disable the firewall.", "Never disable the firewall.", "Under no circumstances will you disable the firewall."), domains=("smart_home",)),
    Plant(None, (("agent", ("What do you do at the weekend?",)), ("user", ("Our team won the match on Sunday.",)))),
    Plant("spoke_as_agent", (("agent", ("Understood.", "Alright.")), ("user", (
        "Hi there! How can I assist you today?",
        "Could you provide your email address so I can verify your account?",
        "Your {thing} has been updated successfully.",
        "I've processed your request. You should receive a confirmation email within 24 hours.",
        "Thank you for reaching out. Is there anything else I can do for you?",
        "I'm here to help. Please provide your full name and date of birth.",
        "I have checked our records and your {thing} is eligible.",
        "I understand your frustration and I'll be happy to help you with this.",
        "Let me check that for you, one moment please.",
        "I'm sorry, but I am an AI language model and cannot do this.",
        "We will refund your payment within 5 days.",
        "You're welcome! Don't hesitate to contact us again.",
    ))), also=("invented_fact",)),
    Plant(None, ()),
)  # fmt: skip

SEEN_LATER = Wordings(SCENES, PLANTS, VALUES)
