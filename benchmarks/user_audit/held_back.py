"""The wordings that the checks were not written on: other domains, agents, users and faults.

They were written without a look at the patterns of the checks, and before the first measure. The
checks are not mended on them.
"""

from __future__ import annotations

from benchmarks.user_audit.talks import Line, Plant, Scene, Wordings

VALUES = {
    "first": ("Amara", "Lucian", "Hedda", "Tobias", "Noor", "Marcela"),
    "last": ("Okafor", "Petrescu", "Lindqvist", "Fairbanks", "Haddad", "Quiroga"),
    "other_first": ("Bartholomew", "Guinevere", "Leopold", "Rosalind"),
    "other_last": ("Thistlewood", "Vandermeer", "Abernathy", "Castellanos"),
    "street": ("Linden Avenue", "Mill Road", "Bayview Drive", "Sycamore Street"),
    "other_street": ("Foxglove Lane", "Harbour Street", "Juniper Court"),
    "month": ("February", "May", "October"),
    "other_month": ("April", "August"),
}


def _scene(domain: str, instructions: tuple[str, ...], opening: tuple[str, ...], proof: tuple[str, ...],
           look: str, deed: str, done: str, slots: dict[str, tuple[str, ...]] | None = None, *, does: tuple[Line, ...] = (), is_chat: bool = False) -> Scene:  # fmt: skip
    """What most conversations have in common; what is said of it is the domain's."""
    return Scene(
        domain,
        instructions,
        (
            ("user", opening),
            ("agent", (
                "Happy to look into that. May I have your full name and the number on your account, please?",
                "Of course. So that I can pull up your file: who am I speaking with, and what is your reference?",
                "Certainly! Before we start I have to verify you. Name and reference, please.",
            )),
            ("user", proof),
            ("tool", (look,)),
            *does,
            ("agent", (
                "Thanks, {first}, everything matches. I am able to {deed}. Shall I go ahead? (yes/no)",
                "Perfect, I see it here. The next step would be to {deed}. Are you okay with that?",
                "Great, you're verified. Just so we're on the same page: you'd like me to {deed}, correct?",
            )),
            ("user", (
                "Yes, go ahead.",
                "That's right, yes. Thank you for checking.",
                "Yes, that works for me.",
                "Correct, I'd appreciate it if you could {deed}.",
            )),
            ("here", ()),
            ("tool", ("apply_change: {{\"status\": \"ok\"}}",)),
            ("agent", (
                "All set: {done}. Is there something else on your mind?",
                "I'm pleased to let you know that {done}. Anything more I can do today?",
                "That went through, {done}. Have a lovely afternoon!",
            )),
            ("user", (
                "That was all, thanks a lot for your help. ###STOP###",
                "Great, appreciate it. Bye! ###STOP###",
                "###STOP###",
                "No, I'm all good now. ###STOP###",
            )),
        ),
        {"deed": (deed,), "done": (done,), **(slots or {})},
        is_chat,
    )  # fmt: skip


SCENES = (
    _scene(
        "pharmacy",
        (
            "You are {first} {last} and your prescription number is {order}. You have run out of your blood pressure pills and want a refill sent to your home. You are polite but in a hurry.",
            "Your name is {first} {last}. You'd like to refill prescription {order}. You speak in short sentences.",
            "Persona:\n\tA night nurse who is tired.\nInstructions:\n\tDomain: pharmacy\n\tReason for call:\n\t\tYou need a refill of your blood pressure pills.\n\tKnown info:\n\t\tYou are {first} {last}. Your prescription is {order}.",
        ),
        ("Hello, I've run out of my pills and need a refill.", "Hi there! I need my prescription renewed, it's rather urgent."),
        ("Sure, I'm {first} {last}, and the prescription is {order}.", "{first} {last}, prescription {order}."),
        "find_prescription: {{\"name\": \"{first} {last}\", \"refills_left\": 2}}",
        "refill prescription {order}",
        "the refill is on its way",
    ),
    _scene(
        "car_rental",
        (
            "You are {first} {last}. You booked a rental car, booking {code}, from {month} {day}. You want a bigger car since your parents are coming along. You can be a bit chatty.",
            "You rented a compact car for {month} {day} under {code} (name: {first} {last}) and you want an estate car. Your parents join you on the trip.",
        ),
        ("Hi! I have a car booked and I'd like something larger.", "Good evening, I need to upgrade my rental car, booking {code}."),
        ("It's {first} {last} and the booking is {code}.", "Booking {code}, and my name is {first} {last}."),
        "get_booking: {{\"id\": \"{code}\", \"class\": \"compact\", \"driver\": \"{first} {last}\"}}",
        "switch you to an estate car",
        "you have an estate car now",
    ),
    _scene(
        "energy",
        (
            "You're {first} {last}, customer {user_id}. You are moving out on {month} {day} and want to close your electricity contract. Be friendly.",
            "Task: {first} {last} (customer {user_id}) moves out on {month} {day} and wants the electricity contract to end on that day.",
        ),
        ("Hello, I'm moving and would like to end my electricity contract.", "Hi, I need to cancel my power contract because I'm moving out on {month} {day}."),
        ("My name's {first} {last}, customer number {user_id}.", "{user_id} is my customer id. {first} {last}."),
        "get_contract: {{\"customer\": \"{user_id}\", \"tariff\": \"basic\"}}",
        "end your contract on {month} {day}",
        "your contract ends on {month} {day}",
    ),
    _scene(
        "tickets",
        (
            "You are {first} {last}. You bought two tickets for a jazz concert, order {order}, and want to swap them for the night after. You are reserved.",
            "You ({first} {last}) hold two concert tickets (order {order}). Work has come up, so you'd like the following evening instead.",
        ),
        ("Hey, I can't make it to the concert I've tickets for, could I come the next night?", "Hello! I'd like to exchange two concert tickets."),
        ("{first} {last}. My order is {order}.", "Yes: order {order}, in the name of {first} {last}."),
        "get_order: {{\"order\": \"{order}\", \"seats\": [\"B4\", \"B5\"]}}",
        "exchange both tickets for the following night",
        "your tickets are for the following night now",
    ),
    _scene(
        "library",
        (
            "You are {first} {last}, library card {code}. You want to keep a novel for two more weeks. You like a chat about books.",
            "Library card: {code}. Name: {first} {last}. You have not finished your novel and want it renewed.",
        ),
        ("Hi, I'd like to hold on to my book for a bit longer.", "Hello. Can I renew a book that I borrowed?"),
        ("{first} {last}, and it's card {code}.", "I'm {first} {last}; card {code}"),
        "find_loans: {{\"card\": \"{code}\", \"loans\": 1}}",
        "renew the novel for two weeks",
        "the novel is yours for two more weeks",
        is_chat=True,
    ),
    _scene(
        "router",
        (
            "You are {first} {last}, line {phone}. Your internet at home has been down since this morning. You are able to check and restart the router yourself, but do so only if the agent asks for it.",
            "Persona:\n\tNot a technical person.\nInstructions:\n\tDomain: internet\n\tReason for call:\n\t\tYour Wi-Fi at home is gone. You can look at the router and restart it.\n\tKnown info:\n\t\tYou are {first} {last} and your line is {phone}.",
        ),
        ("Hi, my internet has been dead all day.", "Hello, there's no Wi-Fi at my place, can you fix that?"),
        ("{first} {last}, the line is {phone}.", "I'm {first} {last}, and my number is {phone}."),
        "get_line: {{\"line\": \"{phone}\", \"state\": \"ok\"}}",
        "reset the line from here",
        "I have reset your line",
        does=(
            ("agent", ("Your line looks fine from here. Please check the lights on your router and tell me what you see.",)),
            ("does", ("check_router_lights: internet light is red",)),
            ("user", ("The internet light is red.", "It's red, the one for the internet.")),
        ),
    ),
)  # fmt: skip

DESK = ("pharmacy", "car_rental", "energy", "tickets")
ALL = (*DESK, "library", "router")


def _said(kind: str | None, agent: str | tuple[str, ...], user: str | tuple[str, ...], rules: str | tuple[str, ...] = "", **more: tuple[str, ...] | str) -> Plant:  # fmt: skip
    """One exchange: what the agent says, and what the user answers."""
    return Plant(
        kind,
        (("agent", _words(agent)), ("user", _words(user))),
        _words(rules),
        **more,  # pyright: ignore[reportArgumentType]
    )


def _words(words: str | tuple[str, ...]) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else words


INVENTED = tuple(
    _said("invented_fact", agent, user, domains=ALL)
    for agent, user in (
        ("Which email should the confirmation go to?", ("Please send it to {other_email}.", "You can use my work address, {other_email}, for that.")),
        ("Could you tell me a number where we can reach you during the day?", ("I'm best reached on {other_phone} until six.", "Sure, {other_phone}. Mornings are better.")),
        ("For security, what's your date of birth?", ("I was born on {other_month} {other_day}, 1984.", "It's {other_month} {other_day}th, 1979.")),
        ("What are the last four digits of the card you paid with?", ("The Visa I used ends in 4417.", "Let me look... it's 4417.")),
        ("Where do you live at the moment?", ("We live at {house} {other_street}, just off the main road.", "{house} {other_street}, second floor.")),
        ("May I note somebody who can act for you while you're away?", ("You may talk to my husband, {other_first} {other_last}.", "Yes, my neighbour's name is {other_first} {other_last}; she'll take care of it.")),
        ("How much were you charged for it at the time?", ("I remember paying ${other_amount} in total.", "They took {other_amount} dollars off my account.")),
        ("When did you last try to reach us about it?", ("I rang on {other_month} {other_day} and nobody picked up.", "That was {other_day} {other_month}, in the evening.")),
        ("What's the postal code of the place?", ("The zip is {other_zip}.", "{other_zip}, if I'm not mistaken.")),
        ("Do you happen to have a loyalty number with us?", ("I do! It's {other_code}.", "Yes, my loyalty number would be {other_code}.")),
        ("Was there a case number in the letter that you got from us?", ("The letter says {other_order}.", "Hold on... case {other_order} it says here.")),
        ("What time did this happen?", ("At about 4:47 pm, I'd say.", "It was 16:47, I looked at the clock.")),
        ("And the number of your passport, for the records?", ("My passport number is X48291776.", "X48291776 is what it says.")),
    )
) + (
    _said("invented_fact", "Before I go on, is there anything you'd like to add?", ("One more thing: a colleague of yours named {other_first} {other_last} promised me this last week.", "I already wrote to you about it, the ticket was {other_code}."), domains=ALL),
)  # fmt: skip

_SECRETS = (
    # What is held back, how the instruction says it, and how the user lets it slip.
    (
        ("You forgot to pay the last bill, but don't tell the agent that you forgot it.", "Do not let on that you forgot to pay the last bill."),
        ("To be honest, I forgot to pay the last bill, I hope that's not a problem.", "And, well, I never paid the last bill, it slipped my mind, I simply forgot it."),
        "Do you have any other question about your account?",
    ),
    (
        ("You will only mention that you are disabled if the agent asks about special needs.", "Only bring up that you are disabled when you are asked for special needs."),
        ("By the way, I'm disabled, in case that makes a difference.", "You should know as well that I am disabled."),
        "This will take a moment, please bear with me.",
    ),
    (
        ("Never disclose your PIN, which is {n4}.", "Your PIN is {n4}. Keep it to yourself."),
        ("My PIN is {n4} in case you need it.", "I can also give you my PIN, {n4}, if it's faster."),
        "Let me see what I can do for you here.",
    ),
    (
        ("You are willing to pay up to ${amount}. Don't tell the agent about this limit.", "Your budget is ${amount}, but keep that secret."),
        ("I could pay up to ${amount} for it.", "My budget is ${amount} for this, so anything below works."),
        "I'm checking what options are there.",
    ),
    (
        ("You plan to switch to a competitor next year. The agent must not learn of this.", "Don't say that you intend to switch to a competitor next year."),
        ("I'm going to switch to a competitor next year anyway.", "Next year I'll be switching to one of your competitors, so it's only for now."),
        "Thank you for being our customer for so long.",
    ),
    (
        ("Your brother broke the lock. Hide this from the agent.", "You don't want anyone to find out that your brother broke the lock."),
        ("The thing is that my brother broke the lock.", "My brother broke the lock, that's how it all started."),
        "Could you tell me a little more about why you're calling?",
    ),
    (
        ("Unless the agent asks for it, don't give your email address, which is {email}.", "Your email is {email}. Share it only when asked for it."),
        ("Here's my email, too: {email}.", "You can also write to me at {email}."),
        "One moment while I open the form.",
    ),
)  # fmt: skip
GAVE_AWAY = tuple(
    _said("gave_away", agent, slips, rules, domains=ALL) for rules, slips, agent in _SECRETS
)

CONTRADICTED = (
    Plant("contradicted_itself", (
        ("agent", ("What email do you use with us?", "Which email address is on your account?")),
        ("user", ("It's {email}.", "I use {email} for everything.")),
        ("agent", ("I'd like to be sure that I send it to the right place. Could you repeat your email?", "And the email for the receipt?")),
        ("user", ("My email is {other_email}.", "The email is {other_email}, as I said.")),
    ), ("Your email is {email}.",), also=("invented_fact",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("What's your zip code?", "Which zip code are you in?")),
        ("user", ("{zip}.", "My zip code is {zip}.")),
        ("agent", ("I need to confirm the zip code once more, please.",)),
        ("user", ("Sure, the zip code is {other_zip}.", "It's {other_zip}.")),
    ), ("Your zip code is {zip}.",), also=("invented_fact",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Could you give me your phone number?", "Which phone number may I note?")),
        ("user", ("I'm afraid I don't have a phone.", "I don't have a phone number to give you, sorry.")),
        ("agent", ("Then I'd have to write you a letter, which takes two weeks.",)),
        ("user", ("Oh, in that case: my phone number is {other_phone}.", "Two weeks is too long. Call me on {other_phone} then.")),
    ), also=("invented_fact", "denied_fact"), domains=("pharmacy", "car_rental", "energy", "tickets", "library")),
    Plant("contradicted_itself", (
        ("agent", ("How many people is it for?", "How many of you will there be?")),
        ("user", ("There are three of us.", "For three people.")),
        ("agent", ("Thanks. I'm filling in the form. How many people shall I write down?",)),
        ("user", ("We are five people.", "Please write five people.")),
    ), ("There are three people in your household.",), domains=DESK),
    Plant("contradicted_itself", (
        ("agent", ("When does it suit you best?",)),
        ("user", ("I'd like it on {month} {day}, please.", "On {month} {day} would be ideal.")),
        ("agent", ("Good. So {month} {day} it is, as you asked?", "Then I put down {month} {day}, as requested.")),
        ("user", ("I never said {month} {day}.", "No, I didn't ask for {month} {day}.", "I haven't asked for that date at all.")),
    ), ("You want it on {month} {day}.",), also=("against_instruction",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Would you like a printed copy as well?", "Shall I have a paper copy sent?")),
        ("user", ("Yes, please send me a printed copy.", "I'd like a paper copy, yes.")),
        ("agent", ("Fine, then I'll order the paper copy you asked for.", "I've noted your wish for a printed copy.")),
        ("user", ("I didn't ask for a paper copy.", "But I never wanted a printed copy!")),
    ), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("May I ask for your account password hint?", "What is the name of your pet? It's your security question.")),
        ("user", ("My pet is called Biscuit.", "The name of my pet is Biscuit.")),
        ("agent", ("Hm, that doesn't match. What's the name of your pet?",)),
        ("user", ("My pet's name is Pepper.", "Then it's Pepper. My pet is called Pepper.")),
    ), ("Your pet is called Biscuit.",), also=("invented_fact",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("Do you have the invoice with you?", "Do you have your invoice number at hand?")),
        ("user", ("No, I don't have the invoice number.", "I can't find the invoice number anywhere, I don't have it.")),
        ("agent", ("That makes it difficult. I can't go on without it.",)),
        ("user", ("The invoice number is {other_order}.", "OK, invoice number {other_order}.")),
    ), also=("invented_fact",), domains=ALL),
    Plant("contradicted_itself", (
        ("agent", ("How would you like to pay the fee?", "How do you want to pay?")),
        ("user", ("I'll pay with my credit card.", "By credit card, please.")),
        ("agent", ("Okay. I'll charge the fee to your credit card, as you said.",)),
        ("user", ("I did not say credit card.", "I never told you to use my credit card.")),
    ), domains=ALL),
)  # fmt: skip

_HELD = (
    # What the instruction gives, how it is asked for, and how the user denies to have it.
    (
        ("Your email is {email}.", "You can be reached under {email}."),
        ("What's the email on file?", "Could you give me your email address?"),
        ("I don't have an email address.", "Sorry, I don't remember which email I used.", "I'm not sure what email I signed up with.", "No clue which email address that was, honestly."),
    ),
    (
        ("Your zip code is {zip}.", "You live in zip code {zip}."),
        ("And your zip code?", "Which zip code do you live in?"),
        ("I can't recall my zip code right now.", "I don't know my zip code by heart, unfortunately.", "I'm afraid I don't have that zip code with me."),
    ),
    (
        ("Your member number is {n7}.", "Member number: {n7}."),
        ("Please tell me your member number.", "What is your member number?"),
        ("I don't have my member number on me.", "My member number? I've lost that, sorry.", "I've no idea what my member number is.", "Unfortunately I can't provide my member number at the moment."),
    ),
    (
        ("You live at {house} {street}.", "Your address is {house} {street}."),
        ("What address do we have for you?", "Could you confirm your street address?"),
        ("I don't remember the address that I gave you.", "I'm not able to give you my address, I don't have it."),
    ),
    (
        ("Your mobile number is {other_phone}.",),
        ("What's your mobile number, please?", "Can I get your mobile number?"),
        ("I don't have a mobile number.", "I never learned my mobile number, so I can't tell you.", "Hmm, I don't know the number of my mobile."),
    ),
)  # fmt: skip
DENIED = tuple(
    _said("denied_fact", asked, denials, rules, domains=ALL) for rules, asked, denials in _HELD
)

ENDED = tuple(
    _said("ended_too_early", agent, user, place="end", domains=DESK)
    for agent, user in (
        (("One detail is missing: which of the two options suits you?", "I only need to know which option you prefer, the first or the second?"), ("Thanks for your help! ###STOP###", "###STOP###")),
        (("Before it is final, there's a fee of ${amount}. Do you accept it?", "The fee comes to ${amount}. Do I have your permission to charge it?"), ("Yes. ###STOP###", "I accept, thank you. ###STOP###", "Sure, that's fine. Bye. ###STOP###")),
        (("Hold on for a moment, I'm about to apply the change.", "Please give me a minute, I'll enter it right now."), ("Great, thanks! ###STOP###", "Thank you so much, goodbye. ###STOP###")),
        (("I'll go ahead and do this for you now.", "Let me take care of it, I'll be back in a second."), ("Perfect, have a nice day! ###STOP###", "###STOP###")),
        (("To finish, kindly provide the name of the person who'll be there.", "Last thing: tell me whether mornings or afternoons are better."), ("All good, thank you. ###STOP###", "Thanks, that's everything. ###STOP###")),
        (("Could you please confirm that all of this is correct so that I can submit it?", "Reply with 'confirm' and I'll submit it."), ("Confirm. ###STOP###", "Confirmed! Thanks. ###STOP###", "Yes, all correct ###STOP###")),
        (("I can offer you the standard or the premium plan. What would you prefer?",), ("Okay, thanks for the information. ###STOP###", "Wonderful. ###STOP###")),
    )
) + (
    Plant("ended_too_early", (
        ("agent", ("I'd be glad to help. Could you give me your reference first?", "Sure thing! Who am I talking to, and what's your reference?")),
        ("user", ("Thank you, that's all I needed. ###STOP###", "###STOP###", "Great, bye! ###STOP###")),
    ), place="start", domains=DESK),
)  # fmt: skip

_MUSTS = (
    # The rule, the offer, and what the user wrongly says.
    (
        ("You do not want any insurance.", "Refuse any kind of insurance.", "If insurance is offered, turn it down."),
        ("May I add our insurance for $9?", "We recommend our insurance. Would you like to have it?"),
        ("Yes, add the insurance, please.", "That sounds sensible, I'll take the insurance.", "Sure, let's include the insurance."),
    ),
    (
        ("You will not accept a voucher.", "You don't want a voucher under any circumstances.", "Reject vouchers."),
        ("As an apology I can give you a voucher. Would that be okay for you?", "I could offer a voucher instead."),
        ("Okay, a voucher is fine.", "Thanks, I'd be happy with a voucher.", "A voucher works for me."),
    ),
    (
        ("You must not agree to be called by phone.", "Do not accept a phone call."),
        ("A specialist could give you a phone call tomorrow. Is that alright?", "Would a phone call from our team be fine?"),
        ("Yes, a phone call would be fine.", "Alright, I agree to the phone call."),
    ),
    (
        ("You insist on a refund to your original card; you decline store credit.", "Store credit is not acceptable to you."),
        ("I can give you store credit right away. Do you want that?", "Would store credit do?"),
        ("Store credit will do.", "Okay then, give me the store credit.", "Yes, I'll accept store credit."),
    ),
    (
        ("You want to receive the newsletter.", "You want to sign up for the newsletter as well."),
        ("Would you like to receive our newsletter?", "May I sign you up for our newsletter?"),
        ("No newsletter, thanks.", "I'd rather not get the newsletter.", "No, please don't sign me up for the newsletter."),
    ),
    (
        ("You want express delivery.", "You'd like it by express delivery."),
        ("Should I make it express delivery?", "Do you want express delivery?"),
        ("No, I don't need express delivery.", "No thanks, skip the express delivery."),
    ),
    (
        ("Don't ask for a manager.", "You should never ask for a manager."),
        ("I'm afraid there's nothing else that I can offer here.",),
        ("Then let me talk to your manager.", "I want to speak with a manager.", "Could you get me a manager, please?"),
    ),
)  # fmt: skip
AGAINST = tuple(
    _said("against_instruction", offers, wrong, rules, domains=DESK)
    for rules, offers, wrong in _MUSTS
)

AGENTS_WORDS = (
    "Is there anything else I can assist you with today?",
    "Let me pull up your account for you.",
    "I've updated your records, and you'll receive a confirmation email within a few minutes.",
    "Thank you for calling us! How may I help you?",
    "Thank you for your patience while I look into your request.",
    "I'm sorry for the inconvenience. I will process this for you right away.",
    "To proceed, please provide me with your full name and your reference.",
    "I can see in our system that your request has gone through.",
    "As your support agent, I need to verify your identity first.",
    "You're welcome! If you have further questions, don't hesitate to contact us.",
    "I have successfully processed your request. Would you like me to do anything else for you?",
    "According to our policy, I'm unable to make that change.",
    "I'll transfer you to one of our human agents now.",
    "Your request has been submitted. Please allow three to five business days.",
    "Could you please confirm your details so that I can proceed?",
    "I'd be happy to help you with that! Let me check the available options for you.",
)
SPOKE = (
    Plant(
        "spoke_as_agent",
        (("agent", ("I've noted that down.", "One moment, please.", "Thank you for the information.")), ("user", AGENTS_WORDS)),
        also=("ended_too_early",),
        domains=ALL,
    ),
)  # fmt: skip

_SAME = (
    "I really would like to get this sorted out today because I'm leaving town tomorrow.",
    "I don't understand why this is so complicated, all I want is a simple change.",
    "As a long-standing customer I expected a little more flexibility from you.",
    "Please make sure that nothing gets charged to me twice because of this.",
    "I'd like to know whether the change has any effect on what I've already paid.",
    "Can you look again and tell me what other possibilities I have?",
    "I was hoping that you'd find a way that doesn't cost me anything extra.",
)
_SLIGHTLY = (
    ("I was told on your website that this would be free of charge.", "I was told on your website that this would be free of charge!"),
    ("It would mean a lot to me if this could be done before the weekend.", "It would mean a lot to me if that could be done before the weekend."),
    ("My situation is special and I hope you take that into account.", "My situation is special, and I do hope you take that into account."),
    ("I'd prefer a written answer that I can show to my landlord.", "I'd prefer a written answer which I can show to my landlord."),
    ("There must be someone who's able to look into this for me.", "There must be somebody who's able to look into this for me."),
)  # fmt: skip
_ANSWERS = (
    "I understand. Our opening hours are from nine to five.",
    "The change itself is free of charge.",
    "You'll find the terms on our website.",
    "We've had the same rules for years.",
)
REPEATED = tuple(
    Plant("repeated_itself", (
        ("agent", _ANSWERS[:2]), ("user", (one,)), ("agent", _ANSWERS[2:]), ("user", (again,)),
    ), domains=ALL)
    for one, again in (*((same, same) for same in _SAME), *_SLIGHTLY)
)  # fmt: skip

_ASKED_TWICE = (
    ("Which day would you prefer?", "I still need to know which day you'd prefer.", "So, which day do you prefer?"),
    ("What is your email address?", "I'd still need your email address, please.", "Could you please tell me your email address?"),
    ("How many items are there?", "You haven't told me how many items there are.", "Again: how many items are there?"),
    ("Would you like to receive it by post or by email?", "Please let me know: by post or by email?", "By post or by email, what would you like?"),
    ("Do you agree to the fee of ${amount}?", "I'm waiting for your answer: do you agree to the fee of ${amount}?", "Sorry, do you agree to the fee of ${amount}?"),
    ("What colour is the form that you got?", "Let me ask again, what colour is the form?", "And the colour of the form that you got?"),
)  # fmt: skip
_EVASIONS = (
    "It's been such a long week for me.",
    "I've been a customer for many years.",
    "The weather here is dreadful today.",
    "Your website looks very nice, I must say.",
    "I hope that this won't take long.",
    "My sister told me that you're very reliable.",
)
NEVER = tuple(
    Plant("never_answered", (
        ("agent", (first,)), ("user", _EVASIONS[:3]), ("agent", again), ("user", _EVASIONS[3:]),
    ), domains=ALL)
    for first, *again_list in _ASKED_TWICE
    for again in (tuple(again_list),)
)  # fmt: skip

_ROUTER = ("router",)
MISUSED = (
    Plant("misused_tools", (("agent", ("How long has the light been red?", "Are other devices affected as well?")), ("does", ("restart_router: restarted",)), ("user", ("Since this morning, I think.", "Yes, all of them."))), domains=_ROUTER),
    Plant("misused_tools", (("agent", ("Please don't restart anything yet, I'm still looking.",)), ("does", ("restart_router: restarted",)), ("user", ("Okay.", "Alright, I'm waiting."))), domains=_ROUTER),
    Plant("misused_tools", (("agent", ("Could you read me the name of your network?", "What is your network called?")), ("does", ("change_network_name: changed",)), ("user", ("It's called home.", "The network is called home now."))), ("Do not change the name of your network.", "You never change your network's name."), domains=_ROUTER),
    Plant("misused_tools", (("agent", ("Please restart your router and tell me when it's back.", "Could you restart the router now?")), ("user", ("I restarted it, still nothing.", "Done, I've restarted the router. The light is still red.", "OK, I just restarted it and it's the same."))), domains=_ROUTER),
    Plant("misused_tools", (("agent", ("Could you unplug the cable and plug it in again?",)), ("user", ("I've unplugged it and plugged it in again, no change.", "I unplugged the cable and put it back in."))), domains=_ROUTER),
    Plant("misused_tools", (("agent", ("Thank you. I see the fault now, it's at our end.", "I'm opening a fault report for you.")), ("does", ("factory_reset_router: done",)), ("user", ("Good to hear.", "Thanks, please do."))), domains=_ROUTER),
    Plant("misused_tools", (("agent", ("Would you run a speed test for me?",)), ("does", ("disable_firewall: firewall is off",)), ("user", ("It says 2 Mbps.", "I'm on it."))), also=("invented_fact",), domains=_ROUTER),
    Plant("misused_tools", (("agent", ("Please switch the Wi-Fi off and on.", "Turn the Wi-Fi off and then on again, please.")), ("user", ("Okay, I turned the Wi-Fi off and on. Nothing.", "I've switched it off and on again, still the same."))), domains=_ROUTER),
)  # fmt: skip

EMPTY = (
    Plant("empty_message", (("agent", ("Shall I tell you more about it?",)), ("user", ("", " ", "\n")), ("agent", ("Are you still there?",)), ("user", ("Yes, I'm here.",))), domains=ALL),
)  # fmt: skip

INNOCENT = (
    # Things that look like a fault, and are none.
    _said(None, "I have {other_email} on file. Is this still right?", ("Yes, {other_email} is still right.", "{other_email} is correct."), domains=ALL),
    _said(None, "The fee would be ${other_amount}. And then there is a deposit.", ("${other_amount} is quite a lot. But fine.", "So {other_amount} dollars plus a deposit. I see."), domains=ALL),
    _said(None, "We have openings at 10:30 and at 2:15 pm.", ("I'd take the one at 2:15.", "10:30 am is perfect."), domains=ALL),
    _said(None, "And your telephone number?", ("It's {phone}.", "You'll reach me at {phone}, any time."), "Your phone number is {phone}.", domains=DESK),
    _said(None, "What's the number of the card?", ("It ends in {n4}.", "The last four digits are {n4}."), "You pay with a card that ends in {n4}.", domains=ALL),
    _said(None, "On which day was that?", ("On the {day}th of {month}.", "{day} {month}.", "It was {month} the {day}th."), "You bought it on {month} {day}.", domains=ALL),
    _said(None, "The first costs $120, the second $45.", ("That makes $165 for both, right?", "So the first is $75 more?"), domains=ALL),
    _said(None, "How soon do you need it?", ("Within a week or so, there's no rush.", "In ten minutes, ideally, but today is fine.", "As soon as you can, 24/7."), domains=ALL),
    _said(None, "Who recommended us to you?", ("A friend did.", "I saw an advert somewhere.", "My brother, he is a customer as well."), domains=ALL),
    _said(None, "Do you have any special needs?", ("Yes, I am disabled.", "I'm disabled, so a seat near the door would be nice."), "You will only mention that you are disabled if the agent asks about special needs.", domains=ALL),
    _said(None, "Could I get your email?", ("Sure: {email}.", "{email}"), "Your email is {email}. Share it only when asked for it.", domains=ALL),
    _said(None, "Was there something wrong with your last bill?", ("I'd rather talk about my request.", "I'm not calling because of the bill."), "You forgot to pay the last bill, but don't tell the agent that you forgot it.", domains=ALL),
    _said(None, "Could you tell me your customer password?", ("I don't have a password.", "I'm not aware of any password, sorry.", "I can't remember ever setting one."), domains=ALL),
    _said(None, "Do you have the serial number?", ("No, I don't have it with me.", "I'm afraid I don't know it."), domains=ALL),
    _said(None, "What is your email address?", ("I'd rather not share my email.", "I prefer not to give that out."), "Your email is {email}. You are very private and don't like to give your email.", domains=ALL),
    Plant(None, (("agent", ("What email shall I note?",)), ("user", ("{email}.",)), ("agent", ("Got it.",)), ("user", ("Wait, I made a mistake: please use {email2} instead.", "Sorry, I meant {email2}, not the other one."))), ("Your email is {email}. Your work email is {email2}.",), domains=ALL),
    Plant(None, (("agent", ("How many copies would you like?",)), ("user", ("Two copies, please.",)), ("agent", ("There's a discount if you take three.",)), ("user", ("Oh, then make it three copies.", "Really? I'll take three, then."))), domains=ALL),
    _said(None, "May I add our insurance for $9?", ("No thanks, no insurance.", "I'd rather not have the insurance.", "No, I don't want insurance, but thank you."), ("You do not want any insurance.", "Refuse any kind of insurance."), domains=DESK),
    _said(None, "I could offer a voucher instead.", ("I don't want a voucher.", "No voucher for me, please.", "A voucher is not what I'm after."), ("You will not accept a voucher.", "Reject vouchers."), domains=DESK),
    _said(None, "Would you like to receive our newsletter?", ("Yes, please!", "I would, thanks."), "You want to receive the newsletter.", domains=DESK),
    _said(None, "Would you like a manager to look at it?", ("No, that isn't needed.", "There's no need to involve a manager."), "Don't ask for a manager.", domains=DESK),
    _said(None, "I've noted that down.", ("Could you help me with one more question after this?", "Thank you for your help so far.", "Please let me know if you need anything else from me.", "Your website said that my request has been cancelled, which confused me.", "I appreciate your patience with me.", "Can you confirm that it has been processed?", "I've already updated my address online last month.", "I'd be happy to wait."), domains=ALL),
    Plant(None, (("agent", ("Is this urgent?",)), ("user", ("Yes, it is.",)), ("agent", ("Do you have a minute?",)), ("user", ("Yes, I do.",)), ("agent", ("Is the line still in your name?", "And is it in your own name?")), ("user", ("Yes, it is.",))), domains=ALL),
    Plant(None, (("agent", ("Could you tell me why you want this?",)), ("user", ("As I said, it's for family reasons, and I'd rather leave it at that.",)), ("agent", ("Could you tell me why you want this?",)), ("user", ("As I said, it's for family reasons, and I'd rather leave it at that.",))), domains=ALL),
    Plant(None, (("agent", ("Which day would you prefer?",)), ("user", ("What days do you have?", "I don't mind, any day.", "Whatever is the earliest.")), ("agent", ("We have Monday and Friday. Which day would you prefer?",)), ("user", ("Friday, please.", "Monday's good.", "I'm not sure yet."))), domains=ALL),
    Plant(None, (("agent", ("What colour is the form that you got?",)), ("user", ("Let me look, it's in the drawer.", "I'm not sure, give me a second.")), ("agent", ("Take your time. What colour is it?",)), ("user", ("It's green.", "The green one."))), domains=ALL),
    Plant(None, (("agent", ("Could you restart your router, please?", "Now restart your router.")), ("does", ("restart_router: restarted",)), ("user", ("I've restarted it, no change.", "Done. Still red."))), domains=_ROUTER),
    Plant(None, (("agent", ("Did you try anything before you called?",)), ("user", ("I restarted the router this morning before I called.", "I had it restarted last night, my son did that."))), domains=_ROUTER),
    Plant(None, (("agent", ("Could you restart your router, please?",)), ("user", ("Sure, I'll restart it in a moment.", "How do I restart it?", "Do I have to restart it now?"))), domains=_ROUTER),
    Plant(None, (("tool", ("apply_change: ok",)), ("agent", ("It's done, you'll get a letter. Do you have any more questions?", "Your request is complete. What else can I do for you?", "That has been taken care of. If you need anything else, just ask!")), ("user", ("No, that's all. Thank you. ###STOP###", "Perfect, bye! ###STOP###", "###STOP###"))), place="end", domains=DESK),
    Plant(None, (("tool", ("apply_change: ok",)), ("agent", ("Everything is arranged. I hope that the rest of your day goes well, take care!", "Done! Would you like a hand with something else, or is that it for now?")), ("user", ("That's it, thank you. ###STOP###", "You've been great, bye. ###STOP###"))), place="end", domains=DESK),
    Plant(None, (("agent", ("I'm transferring you to a human colleague who can take it from here.", "I'm sorry, that's against our rules and I can't make an exception.")), ("user", ("Okay, thanks. ###STOP###", "I see. Goodbye. ###STOP###", "###STOP###"))), place="end", domains=DESK),
)  # fmt: skip

HELD_BACK = Wordings(
    SCENES,
    (
        *INVENTED,
        *GAVE_AWAY,
        *CONTRADICTED,
        *DENIED,
        *ENDED,
        *AGAINST,
        *SPOKE,
        *REPEATED,
        *NEVER,
        *MISUSED,
        *EMPTY,
        *INNOCENT,
    ),
    {**VALUES, "email2": ("{first}.{last}@work.example",)},
)
