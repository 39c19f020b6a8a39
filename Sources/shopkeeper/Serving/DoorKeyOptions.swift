// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Live
import Shop

/// The doors' keys, if the store should not generate them: a file that only its
/// owner can read, or a variable.
struct DoorKeyOptions: ParsableArguments {
    @Option(name: .long, help: "A file with the operators' key; or SHOPKEEPER_OPERATOR_KEY.")
    var operatorKey: String?

    @Option(name: .long, help: "A file with the control door's key; or SHOPKEEPER_CONTROL_KEY.")
    var controlKey: String?

    @Option(name: .long, help: "A file with the key to /metrics; or SHOPKEEPER_METRICS_KEY.")
    var metricsKey: String?

    /// Returns the given keys. `isOpen`: whether others can reach the store.
    /// The doors that change it then require keys that the operator has chosen.
    func keys(isOpen: Bool) throws -> [Door: String] {
        var keys: [Door: String] = [:]
        for door in Door.allCases {
            guard let key = try Self.key(door, file: file(door)) else { continue }
            keys[door] = key
        }
        let needed: [Door] = isOpen ? [.operator, .control] : []
        if let missing = needed.first(where: { keys[$0] == nil }) {
            throw Failure(
                .key, "doorKeyMissing", "The \(missing.rawValue) door has no key of your own.",
                field: Self.option(missing),
                rule: "behind a proxy the operator and control doors need a key each",
                remedy: "write one into a file of mode 0600: openssl rand -hex 32")
        }
        guard Set(keys.values).count == keys.count else {
            throw Failure(
                .key, "doorKeyTwice", "Two doors have the same key.", field: "--operator-key",
                rule: "the key of one door opens no other", remedy: "give each its own")
        }
        return keys
    }

    private func file(_ door: Door) -> String? {
        switch door {
        case .operator: operatorKey
        case .control: controlKey
        case .metrics: metricsKey
        }
    }

    private static func option(_ door: Door) -> String { "--\(door.rawValue)-key" }

    static func key(_ door: Door, file: String?) throws -> String? {
        let text: String
        if let file {
            text = try SecretFile.read(file, field: option(door))
        } else if let variable = Live.environment["SHOPKEEPER_\(door.rawValue.uppercased())_KEY"] {
            text = variable
        } else {
            return nil
        }
        let key = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (32...256).contains(key.utf8.count), key.utf8.allSatisfy({ (33...126).contains($0) })
        else {
            throw Failure(
                .key, "doorKeyInvalid", "The \(door.rawValue) door's key is not valid.",
                field: option(door), rule: "32 to 256 letters, digits and signs, without spaces",
                remedy: "make one with openssl rand -hex 32")
        }
        return key
    }
}
