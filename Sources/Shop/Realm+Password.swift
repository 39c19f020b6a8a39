// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Storage
import StoreWire

/// Passwords tried at signing in.
extension Realm {
    /// Whether a password is right, whether or not there is such a customer:
    /// both take as long, and are limited alike. A right one whose hash was made
    /// at another cost is hashed again. Refusals: `tooManyAttempts`, `passwordsBusy`.
    func tryPassword(
        _ password: String, of name: String, _ row: Row?, device: String,
        _ context: RequestContext
    ) async throws -> Bool {
        let key = Self.signInKey(name)
        let stored = try row?.optionalText("password_hash")
        let known = try await knowledge(of: key, row, device: device)
        let signIn = AttemptLimits.SignIn(
            account: "\(description.id)/\(key)", client: context.client,
            knownDevice: known.hasSignedIn ? device : nil)
        let wall = ports.wall
        let isRight = try await attempts.attempt(signIn, now: { wall.now }) { holder in
            try await passwords.matches(password, stored, decoy: known.decoy, for: holder)
        }
        if isRight, let row, let stored { await renew(stored, password, row, context) }
        return isRight
    }

    /// Whether the device has signed in to the account before, and the hash of
    /// some customer, always the same for a name while customers stay as they are:
    /// an unknown name then has a cost as often as known ones have it.
    private func knowledge(
        of key: String, _ row: Row?, device: String
    ) async throws -> (hasSignedIn: Bool, decoy: String?) {
        let number = try row?.integer("customer_id") ?? Self.nobody(key)
        let digest = SHA256.hash(data: Data("\(description.id)/\(key)".utf8))
        let place = digest.prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) } % 1000
        return try await clusters.of(number: number).read { reading in
            let known = try reading.first(
                Statement.Sessions.knowsDevice, [.integer(number), .text(device)])
            let decoy = try reading.first(Statement.Customers.someHash, [.integer(place)])
            return (known != nil, try decoy?.optionalText("password_hash"))
        }
    }

    /// The number of no customer, the same for the same name, so that asking
    /// for an unknown name costs what asking for a known one does.
    static func nobody(_ key: String) -> Int64 {
        key.utf8.reduce(Int64(7)) { ($0 &* 31 &+ Int64($1)) & 0xFFFF }
    }

    /// Hashes a right password anew, unless it was changed meanwhile. What
    /// fails here is tried again at the next sign-in.
    private func renew(
        _ stored: String, _ password: String, _ row: Row, _ context: RequestContext
    ) async {
        guard passwords.isOutdated(stored) else { return }
        do {
            let number = SQLValue.integer(try row.integer("customer_id"))
            let hash = try await passwords.hash(password)
            try await storage(of: CustomerID(try row.integer("customer_id"))).write {
                try $0.execute(
                    Statement.Customers.renewPassword, [number, .text(hash), .text(stored)])
            }
        } catch {
            ports.log(.warning, "a password's hash could not be renewed", context)
        }
    }
}
