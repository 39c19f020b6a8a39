// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import StoreWire

/// Shows the behaviour of a sandbox for an app.
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show how a sandbox behaves: the settings of an app's catalogue file.",
        discussion: """
            Import a file with other settings to change them. `catalogue export` writes them \
            into the file.
            """)

    @OptionGroup var app: AppOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let (store, bundleID) = try app.found()
        let settings = try await store.controlDoor.get(
            "/apps/\(ProductRecord.escaped(bundleID))/settings", as: AppSettings.self)
        try printing.show(settings, lines: settings.lines)
    }
}

extension AppSettings {
    /// The rate in words. The file's number is in the JSON.
    private var rateWords: String {
        TimeRate(rawValue: Int(timeRate))?.words ?? "\(speed) times as fast"
    }

    var lines: [String] {
        let switches = [
            ("time rate", rateWords), ("Ask to Buy", asksToBuy.word),
            ("interrupted purchases", interruptsPurchases.word),
            ("billing retry", failsRenewals.word), ("grace period", hasGracePeriod.word),
            ("dialogs", (!disablesDialogs).word),
        ]
        let failing = errors.map { ("fails", "\($0.call): \($0.error)") }
        let table = Output.table((switches + failing).map { [$0.0, $0.1] })
        return table + unobeyed.map { "not obeyed: \($0)" }
    }
}

extension Bool {
    fileprivate var word: String { self ? "on" : "off" }
}
