// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Live

/// Options that select a running store.
struct StoreOptions: ParsableArguments {
    @Option(name: .long, help: "The store's data directory; default: the only running store.")
    var data: String?

    @Option(name: .long, help: "The realm; default: that of SHOPKEEPER_URL, else `default`.")
    var realm: String?

    /// Returns the running store. Throws a failure with status 69 if there is
    /// none.
    func store() throws -> RunningStore {
        let url = Live.environment["SHOPKEEPER_URL"].flatMap { $0.isEmpty ? nil : $0 }
        let (base, named) = Self.parts(url)
        return RunningStore(run: try find(base), realm: realm ?? named)
    }

    private func find(_ base: String?) throws -> RunFile {
        if let data = data ?? Live.environment["SHOPKEEPER_DATA"] {
            let path = URL(fileURLWithPath: data).standardizedFileURL.path
            guard let run = RunFile.running(inData: path) else {
                throw Self.noStore("No store is running on \(path).", field: "--data")
            }
            return run
        }
        let running = RunFile.allRunning()
        if let base {
            guard let run = running.first(where: { [$0.url, $0.publicUrl].contains(base) }) else {
                throw Self.noStore(
                    "No store of yours is running at \(base).", field: "SHOPKEEPER_URL")
            }
            return run
        }
        guard let run = running.first else { throw Self.noStore("No store is running.") }
        guard running.count == 1 else {
            let list = running.map { "\($0.url) on \($0.data)" }.joined(separator: ", ")
            throw Failure(
                .unavailable, "severalStores", "Several stores are running: \(list).",
                field: "--data", rule: "one store is meant", remedy: "name its data directory")
        }
        return run
    }

    private static func noStore(_ message: String, field: String? = nil) -> Failure {
        Failure(
            .unavailable, "noStore", message, field: field,
            remedy: "start one with `shopkeeper serve`, or run a command under `shopkeeper exec`")
    }

    /// Splits a store's URL into the URL without the realm's prefix, and the
    /// realm.
    private static func parts(_ url: String?) -> (String?, String?) {
        guard let url else { return (nil, nil) }
        guard let prefix = url.range(of: "/realms/") else {
            return (url.hasSuffix("/") ? String(url.dropLast()) : url, nil)
        }
        let name = url[prefix.upperBound...].prefix { $0 != "/" }
        return (String(url[..<prefix.lowerBound]), String(name))
    }
}

/// A running store with the selected realm.
struct RunningStore: Sendable {
    let run: RunFile
    let realm: String?

    /// The URL with the realm's prefix, for configuring a device.
    var url: String { realm.map { "\(run.url)/realms/\($0)" } ?? run.url }

    /// The realm's addresses at the operators' door.
    var operatorDoor: DoorClient { DoorClient(base: url + "/operator/v1", key: operatorKey) }
    /// The store's addresses at the operators' door.
    var storeDoor: DoorClient { DoorClient(base: run.url + "/operator/v1", key: operatorKey) }
    /// The realm's addresses at the control door.
    var controlDoor: DoorClient { DoorClient(base: url + "/control/v1", key: run.controlKey) }
    /// The operator's own key, whose name is recorded in the audit, or else the
    /// store's.
    private var operatorKey: String {
        Live.environment["SHOPKEEPER_OPERATOR_KEY"].flatMap { $0.isEmpty ? nil : $0 }
            ?? run.operatorKey
    }
    /// The addresses that need no key.
    var publicDoor: DoorClient { DoorClient(base: run.url, key: nil) }
}
