// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Live

/// Which running store a verb speaks to.
struct StoreOptions: ParsableArguments {
    @Option(name: .long, help: "The store's data directory; default: the only running store.")
    var data: String?

    @Option(name: .long, help: "The realm; default: that of SHOPKEEPER_URL, else `default`.")
    var realm: String?

    /// The running store, or why there is none: 69.
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

    /// A store's URL without the realm's prefix, and the realm.
    private static func parts(_ url: String?) -> (String?, String?) {
        guard let url else { return (nil, nil) }
        guard let prefix = url.range(of: "/realms/") else {
            return (url.hasSuffix("/") ? String(url.dropLast()) : url, nil)
        }
        let name = url[prefix.upperBound...].prefix { $0 != "/" }
        return (String(url[..<prefix.lowerBound]), String(name))
    }
}

/// A store that runs, and the realm of it that is meant.
struct RunningStore: Sendable {
    let run: RunFile
    let realm: String?

    /// With the realm's prefix: what a device is set up with.
    var url: String { realm.map { "\(run.url)/realms/\($0)" } ?? run.url }

    /// The operators' door of the realm.
    var operatorDoor: DoorClient { DoorClient(base: url + "/operator/v1", key: operatorKey) }
    /// The operators' door of the store.
    var storeDoor: DoorClient { DoorClient(base: run.url + "/operator/v1", key: operatorKey) }
    /// The testers' door of the realm.
    var controlDoor: DoorClient { DoorClient(base: url + "/control/v1", key: run.controlKey) }
    /// An operator's own, by which the audit names them, else the store's.
    private var operatorKey: String {
        Live.environment["SHOPKEEPER_OPERATOR_KEY"].flatMap { $0.isEmpty ? nil : $0 }
            ?? run.operatorKey
    }
    /// What wants no key.
    var publicDoor: DoorClient { DoorClient(base: run.url, key: nil) }
}
