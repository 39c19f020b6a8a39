// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Live

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve a store until it is stopped.")

    @Argument(help: "A .storekit file; default: a built-in catalogue.")
    var file: String?

    @OptionGroup var options: ServeOptions
    @OptionGroup var ledger: LedgerBesideOptions
    @OptionGroup var printing: PrintOptions

    @Flag(
        help: """
            Print a line for each purchase, refusal, notification attempt and piece of due \
            work; default: on a terminal.
            """)
    var events: EventLines?

    /// Whether events are printed.
    enum EventLines: String, EnumerableFlag {
        case events, quiet
    }

    private var showsEvents: Bool {
        if printing.json { return false }
        return (events ?? (isatty(STDOUT_FILENO) == 1 ? .events : .quiet)) == .events
    }

    func run() async throws {
        try ledger.check(options)
        let options = try options.withSecrets()
        let app = try options.app(file: file)
        for warning in app.warnings { Output.complain("warning: \(warning)") }
        let data = options.data ?? "./.shopkeeper"
        let served = try ServedStore(
            options: options, app: app, data: data,
            events: showsEvents ? StoreEvents.printed : StoreEvents.unheard)
        let printing = printing
        // Not in `exec`, because the command that it starts would inherit the
        // limit.
        Live.raiseDescriptorLimit()
        let port = options.port ?? 4780
        guard ledger.withLedger else {
            return try await served.run(port: port, stopsOnSignals: true) { run in
                try? printing.show(Announcement(run), lines: lines(run, app, options))
            }
        }
        let beside = try LedgerBeside(
            data: data, app: app, options: options, port: ledger.ledgerPort)
        try await beside.serve(beside: served, port: port) { run, ledger in
            try? printing.show(
                Announcement(run, ledger),
                lines: lines(run, app, options)
                    + ledger.lines(product: Self.product(app), store: run))
        }
    }

    private static func product(_ app: ServedApp) -> String {
        ShellWord.quoted(app.catalogue.products.first?.id.value ?? "PRODUCT")
    }

    private func lines(
        _ run: RunFile, _ app: ServedApp, _ options: ServeOptions
    ) -> [String] {
        let product = Self.product(app)
        let data = ShellWord.quoted(run.data, always: true)
        let own = OwnCommand.words()
        return [
            "Serving \(app.bundleID) (\(app.catalogue.products.count) products) at "
                + (run.publicUrl ?? run.url)
        ] + (run.publicUrl == nil ? [] : ["On this machine: \(run.url)"])
            + (run.tlsUrl.map { ["With TLS, for clients that trust the root: \($0)"] } ?? []) + [
                "Root certificate: \(run.root)",
                "",
                "Try, in another terminal:",
            ]
            + (options.opensSandboxes
                ? [
                    "    \(own) buy \(product) --data \(data)",
                    "    \(own) transaction list --data \(data)",
                    "    eval \"$(\(own) env --data \(data))\" && "
                        + OwnCommand.words(for: "monkey-credits"),
                ] : Self.linesWithPassword(own, product, data))
    }

    /// Behind a proxy a customer needs a password.
    private static func linesWithPassword(
        _ own: String, _ product: String, _ data: String
    ) -> [String] {
        [
            "    (umask 077 && openssl rand -hex 16 > ann.password)",
            "    \(own) customer create ann --password-file ann.password --data \(data)",
            "    SHOPKEEPER_PASSWORD=$(cat ann.password) \(own) buy \(product) --customer ann "
                + "--data \(data)",
            "    \(own) transaction list --data \(data)",
        ]
    }

    /// What `--json` prints: everything except the doors' keys, and the first keys of a
    /// ledger.
    private struct Announcement: Encodable {
        let url: String
        let publicUrl: String?
        let tlsUrl: String?
        let realmUrls: [String: String]?
        let root: String
        let data: String
        let bundleId: String
        let pid: Int32
        let ledger: LedgerBesideFacts?

        init(_ run: RunFile, _ ledger: LedgerBesideFacts? = nil) {
            self.ledger = ledger
            (url, root, data, bundleId, pid) = (run.url, run.root, run.data, run.bundleId, run.pid)
            (publicUrl, tlsUrl, realmUrls) = (run.publicUrl, run.tlsUrl, run.realmUrls)
        }
    }
}
