# SPDX-License-Identifier: Apache-2.0
"""Mutants that `scripts/mutants` knows by their words: each switches one cure off."""

#: Modules of which none are drawn by lot, and the suites that answer for them.
KNOWN_PARTS = {
    "Archive": r"^(?:ShopTests|LedgerTests)\.StrangeBackupTests",
    "CatalogueFile": r"^CatalogueFileTests\.",
    "Commerce": r"^CommerceTests\.",
    "HTTPShell": r"^(?:ShopServerTests|LedgerServerTests)\.",
    "LedgerServer": r"^LedgerServerTests\.",
    "Outbound": r"^OutboundTests\.",
    "ShopServer": r"^ShopServerTests\.",
    "StoragePostgres": r"^StorageTests\.Postgres",
    "StorageSQLite": r"^StorageTests\.",
    "StoreWire": r"^StoreWireTests\.",
    "shopkeeper": r"^CommandTests\.",
}
#: Part, file, what stands there, and what stands there instead on as many lines, where
#: `isMutant(#)` chooses it; and the suites that must notice, where the part's own are many.
KNOWN = [
    ("Shop", "Sources/Shop/Realm+Settle.swift",
     "return try await Task { try await storage.write(body) }.value",
     "return try await isMutant(#) ? storage.write(body)"
     " : Task { try await storage.write(body) }.value"),
    ("Shop", "Sources/Shop/Realm+Settle.swift",
     "// Who asks next need not wait for the lease to end.",
     "if isMutant(#) { throw fault }"),
    ("Shop", "Sources/Shop/Realm+Purchase.swift",
     "simulatesAskToBuy: !isProduction &&", "simulatesAskToBuy: (isMutant(#) || !isProduction) &&"),
    ("Shop", "Sources/Shop/PurchaseCommit.swift",
     'guard state == nil || state == "refused" else',
     'guard state == nil || state == "refused" || (isMutant(#) && state != "sold") else'),
    ("PurchaseKit", "Sources/PurchaseKit/Engine/Device+Transactions.swift",
     'session.environment == "Production" ? ports.wall.now : session.storeTime',
     'session.environment == "Production" && !isMutant(#) ? ports.wall.now : session.storeTime'),
    ("Ledger", "Sources/Ledger/Prover.swift",
     "purchase.key.root == witness.fingerprint",
     "(isMutant(#) || purchase.key.root == witness.fingerprint)"),
    ("Ledger", "Sources/Ledger/Ledger+Redeem.swift",
     'return bundleID == other.bundleID ?', "return isMutant(#) || bundleID == other.bundleID ?"),
]
