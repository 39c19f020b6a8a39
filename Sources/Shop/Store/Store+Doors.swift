// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

extension Store {
    /// Returns the doors' keys. The first process that needs them generates
    /// them.
    static func makeDoorKeys(
        in registry: any Storage, _ randomness: Randomness
    ) async throws -> [Door: String] {
        let stored = try await storedDoorKeys(in: registry)
        if stored.count == Door.allCases.count { return stored }
        let made = Door.allCases.map { ($0, randomness.hex(32)) }
        try await registry.write { writing in
            for (door, secret) in made {
                try writing.execute(
                    Statement.Registry.insertDoorKey, [.text(door.rawValue), .text(secret)])
            }
        }
        return try await storedDoorKeys(in: registry)
    }

    private static func storedDoorKeys(
        in registry: any Storage
    ) async throws -> [Door: String] {
        let rows = try await registry.read { try $0.query(Statement.Registry.doorKeys, []) }
        var keys: [Door: String] = [:]
        for row in rows {
            guard let door = Door(rawValue: try row.text("door")) else { continue }
            keys[door] = try row.text("secret")
        }
        return keys
    }
}
