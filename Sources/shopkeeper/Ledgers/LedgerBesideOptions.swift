// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The options of `serve` for a ledger of the same process.
struct LedgerBesideOptions: ParsableArguments {
    @Flag(
        name: .long,
        help: """
            Serve a ledger of this store too, for a first try: in the folder beside the data \
            directory, by the ledger.yaml there, which is made from the catalogue if there is none.
            """)
    var withLedger = false

    @Option(
        name: .long, help: "The port of --with-ledger; 0 for any free one; default: 4790.")
    var ledgerPort: Int?

    /// Throws if the store is not one that a first try is for.
    func check(_ options: ServeOptions) throws {
        guard withLedger else {
            guard ledgerPort == nil else {
                throw Failure(
                    .usage, "ledgerMissing", "No ledger is served.", field: "--ledger-port",
                    rule: "together with --with-ledger",
                    remedy: "add --with-ledger, or leave it out")
            }
            return
        }
        let others = [
            ("--behind-proxy", options.proxy.isOpen), ("--database", options.database != nil),
            ("--in-memory", options.inMemory), ("--notify", options.notify != nil),
        ]
        guard let other = others.first(where: \.1)?.0 else { return }
        throw Failure(
            .usage, "ledgerNotBeside", "A ledger of the same process does not go with \(other).",
            field: "--with-ledger",
            rule: "a store of this machine, in files, whose notifications go to the ledger",
            remedy: "leave \(other) out, or serve the ledger by itself with `ledger serve`")
    }
}
