// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Storage
import StoreWire

/// Tries passwords at sign-in.
extension CustomerRoom {
    /// Whether a password is right. Existing and unknown customers take the
    /// same time and have the same limits. A right password whose hash has
    /// another cost is hashed again. Refusals: `tooManyAttempts`,
    /// `passwordsBusy`.
    func tryPassword(
        _ password: String, of name: String, _ row: Row?, device: String,
        _ context: RequestContext
    ) async throws -> Bool {
        let key = Self.signInKey(name)
        let stored = try row?.optionalText("password_hash")
        let known = try await knowledge(of: key, row, device: device)
        let signIn = AttemptLimits.SignIn(
            account: "\(realm.description.id)/\(key)", client: context.client,
            knownDevice: known.hasSignedIn ? device : nil)
        let wall = realm.ports.wall
        let isRight = try await realm.attempts.attempt(signIn, now: { wall.now }) { holder in
            try await realm.passwords.matches(password, stored, decoy: known.decoy, for: holder)
        }
        if isRight, let row, let stored { await renew(stored, password, row, context) }
        return isRight
    }

    /// Returns whether the device has signed in to the account before, and the
    /// hash of an arbitrary customer. The hash depends on the name, and stays
    /// the same while customers do not change. So an unknown name has each cost
    /// as often as known ones do.
    private func knowledge(
        of key: String, _ row: Row?, device: String
    ) async throws -> (hasSignedIn: Bool, decoy: String?) {
        let number = try row?.integer("customer_id") ?? Self.nobody(key)
        let digest = SHA256.hash(data: Data("\(realm.description.id)/\(key)".utf8))
        let place = digest.prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) } % 1000
        return try await realm.read(ofNumber: number) { reading in
            let known = try reading.first(
                Statement.Sessions.knowsDevice, [.integer(number), .text(device)])
            let decoy = try reading.first(Statement.Customers.someHash, [.integer(place)])
            return (known != nil, try decoy?.optionalText("password_hash"))
        }
    }

    /// Returns a number that no customer has. It depends on the name, so that a
    /// query for an unknown name costs as much as one for a known name.
    static func nobody(_ key: String) -> Int64 {
        key.utf8.reduce(Int64(7)) { ($0 &* 31 &+ Int64($1)) & 0xFFFF }
    }

    /// Hashes a right password again, unless it was changed in the meantime. If
    /// this fails, the next sign-in tries again.
    private func renew(
        _ stored: String, _ password: String, _ row: Row, _ context: RequestContext
    ) async {
        guard realm.passwords.isOutdated(stored) else { return }
        do {
            let customer = CustomerID(try row.integer("customer_id"))
            let hash = try await realm.passwords.hash(password)
            try await realm.bookkeeping(of: customer) {
                try $0.execute(
                    Statement.Customers.renewPassword,
                    [.integer(customer.value), .text(hash), .text(stored)])
            }
        } catch {
            realm.ports.log(.warning, "a password's hash could not be renewed", context)
        }
    }
}
