// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage
public import StoreWire

extension CustomerRoom {
    /// How many seconds of wall time a session lasts. Then a device signs in
    /// again.
    static let sessionSeconds: Int64 = 30 * 24 * 3600
    /// The most sessions of one customer, and the most devices in each app.
    /// Beyond that, those that were used longest ago are removed. In a sandbox
    /// many testers may be one customer.
    var sessionsMax: Int64 { realm.isProduction ? 100 : 1000 }

    /// The version of an app that sends none.
    static let unknownVersion = "1.0"

    /// Signs a device in. Refusals, in order: `textInvalid`, `textTooLong`,
    /// `uuidInvalid`, `environmentUnknown`, `environmentMismatch`, `bundleIdMissing`,
    /// `bundleIdUnknown`, `customerMissing`,
    /// `tooManyAttempts`, `signInRefused` (after the same time for an unknown
    /// name and a wrong password).
    public func signIn(
        _ request: SignInRequest, _ context: RequestContext
    ) async throws -> SignInResponse {
        let deviceUUID = try Self.check(request)
        try checkEnvironment(request.environment)
        let shelf = try await realm.loadShelf()
        let app = try app(request.bundleId, on: shelf)
        let customer = try await identify(
            request.customer, request.password, from: deviceUUID.text, context)
        let arrival = Arrival(
            token: SessionToken(customer: customer.id, randomness: realm.ports.randomness),
            deviceUUID: deviceUUID, request: request, bundleID: app.bundleID,
            deviceNumber: try await realm.newNumber(.device, bucket: customer.id.bucket),
            appTransactionNumber: try await realm.newNumber(
                .appTransaction, bucket: customer.id.bucket),
            wall: realm.ports.wall.now, countMax: sessionsMax)
        let (session, known) = try await realm.line(of: customer.id, asking: arrival.question) {
            try arrival.write($0)
        }
        // A known device keeps its numbers.
        if let device = known.device, device != arrival.deviceNumber {
            realm.giveBack(arrival.deviceNumber)
        }
        if let account = known.account, account != arrival.appTransactionNumber {
            realm.giveBack(arrival.appTransactionNumber)
        }
        // The first sign-in to an app owes what the family has bought in it.
        if known.account == nil { realm.ring(customer.id) }
        realm.ports.log(.info, "signed in", context, session.facts)
        var response = response(arrival, session, customer, app.settings)
        if app.hasSubscriptions,
            try await realm.subscriptions.asksForConsent(customer.id, app.bundleID)
        {
            response.asksPriceConsent = true
        }
        return response
    }

    private static func check(_ request: SignInRequest) throws -> UUIDText {
        let texts = [(request.bundleId, "bundleId"), (request.customer, "customer")]
        for (text, field) in texts {
            if let text { try Edge.text(text, field) }
        }
        if let name = request.deviceName { try Edge.label(name, "deviceName") }
        if let version = request.appVersion {
            try Edge.name(version, "appVersion", bytesMax: 64)
            try Edge.label(version, "appVersion", bytesMax: 64)
        }
        if let password = request.password {
            try Edge.text(password, "password", bytesMax: Passwords.bytesMax)
        }
        return try Edge.uuid(request.deviceUUID, "deviceUUID")
    }

    /// A device that names its environment gets into no other one, whatever the name and
    /// the password.
    private func checkEnvironment(_ word: String?) throws {
        guard let word else { return }
        guard let asked = Environment(named: word) else {
            throw Refusal(
                .badRequest, code: "environmentUnknown", "There is no such environment.",
                field: "environment",
                rule: Environment.known.map(\.rawValue).joined(separator: ", "),
                remedy: "set SHOPKEEPER_ENVIRONMENT to one of them, or leave it out")
        }
        let own = realm.description.environment
        guard asked != own else { return }
        throw Refusal(
            .forbidden, code: "environmentMismatch",
            "This realm is for \(own), and the device is for \(asked).",
            field: "environment",
            rule: "a customer signs in to production, and a tester to a sandbox",
            remedy: "point SHOPKEEPER_URL to a realm of \(asked), as "
                + "`https://store.example/realms/NAME`, or set SHOPKEEPER_ENVIRONMENT to \(own)")
    }

    private func app(_ bundleID: String?, on shelf: Shelf) throws -> Shelf.App {
        guard let bundleID else {
            if let only = shelf.apps.values.first, shelf.apps.count == 1 { return only }
            throw Refusal(
                .badRequest, code: "bundleIdMissing",
                "The device did not say which app it is, and this realm does not have one "
                    + "app alone.",
                field: "bundleId", rule: "it may be left out where a realm has one app",
                remedy: "set SHOPKEEPER_BUNDLE_ID to the app's bundle id")
        }
        guard let app = shelf.apps[BundleID(bundleID)] else {
            let known = shelf.apps.keys.map { "`\($0)`" }.sorted().prefix(10)
            throw Refusal(
                .notFound, code: "bundleIdUnknown", "This realm has no app of that bundle id.",
                field: "bundleId",
                rule: realm.isProduction
                    ? "the bundle id of one of the realm's apps"
                    : known.isEmpty
                        ? "the realm has no app yet"
                        : "one of the realm's apps: " + known.joined(separator: ", "),
                remedy: "set SHOPKEEPER_BUNDLE_ID to one of them, or serve the app's "
                    + "catalogue with --bundle-id")
        }
        return app
    }

    /// Returns the customer who signs in, on a device or in a browser. Refusals, in order:
    /// `customerMissing`, `tooManyAttempts`, `signInRefused`.
    func identify(
        _ customer: String?, _ password: String?, from device: String, _ context: RequestContext
    ) async throws -> SignedInCustomer {
        if customer == nil, realm.isProduction {
            throw Refusal(
                .badRequest, code: "customerMissing", "The request names no customer.",
                field: "customer", rule: "only a sandbox has a default customer",
                remedy: "set SHOPKEEPER_CUSTOMER and SHOPKEEPER_PASSWORD")
        }
        let name = customer ?? Realm.defaultCustomer
        let row = try await self.customer(named: name)
        let hash = try row?.optionalText("password_hash")
        // In a sandbox, any client may sign in as a customer without a
        // password, unless others can reach the store.
        let isOpen = row != nil && hash == nil && !realm.isProduction && realm.ports.opensSandboxes
        var isRight = isOpen
        if !isOpen {
            isRight = try await tryPassword(
                password ?? "", of: name, row, device: device, context)
        }
        guard let row, isRight else {
            throw Refusal(
                .unauthorised, code: "signInRefused",
                "The customer's name or password is not right.", field: "customer",
                rule: realm.isProduction
                    ? "a customer of this production realm; a sandbox's testers are none of its"
                    : "a tester of this sandbox; production's customers are none of its",
                remedy: "check SHOPKEEPER_CUSTOMER and SHOPKEEPER_PASSWORD")
        }
        return SignedInCustomer(
            id: CustomerID(try row.integer("customer_id")), name: try row.text("name"))
    }

    /// Returns the canonical form of a name, regardless of upper and lower
    /// case.
    static func signInKey(_ name: String) -> String {
        name.lowercased().precomposedStringWithCanonicalMapping
    }

    private func response(
        _ arrival: Arrival, _ session: DeviceSession, _ customer: SignedInCustomer,
        _ settings: SandboxSettings
    ) -> SignInResponse {
        var description = realm.description
        description.generation = session.generation
        return SignInResponse(
            token: arrival.token.text, tokenExpires: arrival.expires,
            customerId: customer.id.description, customerName: customer.name,
            bundleId: session.bundleID.value, appAppleId: realm.isProduction ? session.appID : nil,
            realm: description, storefront: session.storefrontDescription,
            appTransactionId: String(session.appTransactionID), canMakePayments: session.mayBuy,
            rootCertificate: Data(realm.authority.root).base64EncodedString(),
            now: session.clock.now(wall: arrival.wall),
            disablesDialogs: settings.disablesDialogs ? true : nil)
    }
}

/// A customer whose name and password were right.
struct SignedInCustomer: Sendable {
    let id: CustomerID
    let name: String
}

/// What is written when a device signs in.
private struct Arrival: Sendable {
    let token: SessionToken
    let deviceUUID: UUIDText
    let request: SignInRequest
    let bundleID: BundleID
    let deviceNumber: Int64
    let appTransactionNumber: Int64
    let wall: Timestamp
    /// The most sessions of the customer, and devices in the app.
    let countMax: Int64

    var expires: Timestamp { wall.adding(seconds: CustomerRoom.sessionSeconds) }
    private var version: String { request.appVersion ?? CustomerRoom.unknownVersion }

    private var bundle: SQLValue { .text(bundleID.value) }
    private var device: SQLValue { .text(deviceUUID.text) }

    var question: LineQuestion {
        LineQuestion(statement: Statement.Sessions.arriving, values: [bundle, device])
    }

    /// Writes the session. Also returns the numbers that device and account
    /// already had.
    func write(
        _ line: CustomerLine
    ) throws -> (DeviceSession, known: (device: Int64?, account: Int64?)) {
        let (writing, customer) = (line.writing, SQLValue.integer(line.customer.value))
        let known = (
            device: try line.facts.optionalInteger("device_id"),
            account: try line.facts.optionalInteger("app_transaction_id")
        )
        let now = SQLValue.integer(line.now.milliseconds)
        try writing.execute(
            Statement.Sessions.putDevice,
            RealmSchema.devices.row([
                "customer_id": customer, "bundle_id": bundle, "device_uuid": device,
                "device_id": .integer(deviceNumber), "name": .optional(request.deviceName),
                "app_version": .text(version), "seen_at": now,
            ]))
        try writing.execute(
            Statement.Sessions.putAppAccount,
            RealmSchema.appAccounts.row([
                "customer_id": customer, "bundle_id": bundle,
                "app_transaction_id": .integer(appTransactionNumber),
                "original_purchased_at": now, "original_version": .text(version),
            ]))
        // What the family has bought in the app.
        if known.account == nil { try FamilyDebt.owe(line) }
        try writing.execute(
            Statement.Sessions.deleteOldDevices, [customer, bundle, device, .integer(countMax)])
        // The session may have ended by a clock that ran ahead. It is valid
        // again when the clock is corrected.
        let forgotten = wall.adding(seconds: -CustomerRoom.sessionSeconds)
        try writing.execute(
            Statement.Sessions.deleteOld,
            [customer, .integer(forgotten.milliseconds), .integer(countMax - 1)])
        try writing.execute(
            Statement.Sessions.insert,
            RealmSchema.sessions.row([
                "customer_id": customer, "token_hash": .blob(token.hash), "bundle_id": bundle,
                "device_uuid": device, "app_version": .text(version),
                "expires_at": .integer(expires.milliseconds),
                "made_at": .integer(wall.milliseconds), "used_at": .integer(wall.milliseconds),
            ]))
        guard
            let session = try writing.first(
                Statement.Sessions.find, [customer, .blob(token.hash)])
        else {
            // It can be missing only if the app is new to the cluster.
            throw StorageFault(.busy, "the app is on its way to the customer's cluster")
        }
        return (try DeviceSession(session, token.customer, token.hash), known)
    }
}

extension DeviceSession {
    var storefrontDescription: StorefrontDescription {
        StorefrontDescription(
            countryCode: storefront.countryCode, region: storefront.region, id: storefront.id,
            currency: storefront.currency.code, locale: locale)
    }
}
