// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Shop
import StoreWire

/// The door for testers, with what can be forced only in a sandbox.
struct ControlDoor: Sendable {
    let realm: Realm
    let call: Call

    init(realm: Realm, call: Call) throws {
        guard realm.description.environment == Realm.sandbox else {
            throw RequestMistake.sandboxOnly
        }
        self.realm = realm
        self.call = call
    }

    func answer(_ route: Route) async throws -> Response {
        switch route {
        case .readClock: return try await clock()
        case .moveClock: return try await moveClock()
        case .readSettings(let bundleID): return try await settings(bundleID)
        default: throw RequestMistake.unknownPath
        }
    }

    private func clock() async throws -> Response {
        try .json(try await realm.clock())
    }

    private func settings(_ bundleID: String) async throws -> Response {
        try .json(try await realm.settings(bundleID: bundleID))
    }

    private func moveClock() async throws -> Response {
        let request = try await call.body(MoveClockRequest.self)
        return try .json(try await realm.moveClock(request, call.context))
    }
}
