"""tau2-bench's banking_knowledge: a bank whose tools and rules are found in documents.

The agent is told of 14 tools and the customer of 6. Documents name 48 more, which the agent unlocks
or gives to the customer. Both act on one database.
"""

from greenroom.domains.plugins import TAU2, DomainPlugin
from greenroom.domains.tau2.banking.edition import BankingSettings, banking_edition
from greenroom.domains.tau2.banking.knowledge import Document, Hit, KnowledgeSearch, Search

plugin = DomainPlugin(
    "banking_knowledge", settings=BankingSettings, editions={TAU2: banking_edition}
)

__all__ = [
    "BankingSettings",
    "Document",
    "Hit",
    "KnowledgeSearch",
    "Search",
    "banking_edition",
    "plugin",
]
