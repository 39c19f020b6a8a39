// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire

/// The device's session at the store, valid until the token expires.
struct Session: Sendable {
    var token: String
    var expires: Timestamp
    var owner: Owner
    /// For people.
    var customerName: String
    var bundleID: BundleID
    var environment: Environment
    /// The realm's generation at sign-in.
    var generation: Int64
    var mayBuy: Bool
    /// Whether a higher price waited for the customer's consent at sign-in.
    var asksPriceConsent: Bool
    /// Whether a choice outside of the app waited at sign-in.
    var hasPurchaseIntents: Bool
    /// The root certificate that is trusted, in DER.
    var root: [UInt8]
    var verifier: TransactionVerifier
    /// The store's commercial time in its last answer.
    var storeTime: Timestamp
}

extension Device {
    /// Returns the current session or signs in. Concurrent callers share one
    /// sign-in.
    func signIn() async throws(DeviceFault) -> Session {
        if let session, ports.wall.now < session.expires { return session }
        let task = signingIn ?? Task { try await self.askForSession() }
        signingIn = task
        do {
            return try await task.value
        } catch let fault as DeviceFault {
            throw fault
        } catch {
            throw .overtaken
        }
    }

    /// Returns the current session. If its customer may not buy, signs in
    /// again, because that may have changed.
    func signInToBuy() async throws(DeviceFault) -> Session {
        if session?.mayBuy == false { session = nil }
        return try await signIn()
    }

    /// Records that the store no longer allows this customer to buy.
    func noteRestriction() {
        session?.mayBuy = false
        noteCustomer(mayBuy: false)
    }

    private func askForSession() async throws(DeviceFault) -> Session {
        defer { signingIn = nil }
        if let fault = configuration.fault { throw .setUp(fault) }
        let record = try openRecord()
        let request = SignInRequest(
            bundleId: configuration.bundleID?.value, appVersion: configuration.appVersion,
            deviceUUID: record.deviceUUID, deviceName: configuration.deviceName,
            environment: configuration.environment?.rawValue, customer: configuration.customer,
            password: configuration.password)
        let reply = try await send(.signIn, body: encode(request), token: nil)
        guard reply.status == 200 else { throw signInRefusal(reply) }
        let response: SignInResponse = try decode(reply)
        if configuration.bundleID == nil {
            sayOnce(
                "no bundle id is configured: this is \(response.bundleId), the store's only app "
                    + "(SHOPKEEPER_BUNDLE_ID or DeviceConfiguration.bundleID says another)")
        }
        let session = try makeSession(response)
        try remember(response, session)
        self.session = session
        storeDisablesDialogs = response.disablesDialogs == true
        noteCustomer(mayBuy: session.mayBuy)
        noteEnvironment(session.environment)
        noteStorefront(response.storefront)
        noteReceipt()
        return session
    }

    private func signInRefusal(_ reply: DeviceReply) -> DeviceFault {
        // After several wrong passwords, the store answers 429 for a while.
        if reply.status == 429, JSONNesting.isWithin(reply.body),
            let error = try? JSONDecoder().decode(WireError.self, from: Data(reply.body))
        {
            return .refused(status: reply.status, error)
        }
        let fault = refusal(reply)
        guard case .refused(_, let error) = fault, error.field == "bundleId",
            configuration.bundleID == nil
        else { return fault }
        return .setUp(
            "\(error.message) Set SHOPKEEPER_BUNDLE_ID or DeviceConfiguration.bundleID.")
    }

    private func makeSession(_ response: SignInResponse) throws(DeviceFault) -> Session {
        if let own = configuration.environment, own != response.realm.environment {
            throw .setUp(
                "the store at \(configuration.storeURL) is for \(response.realm.environment), and "
                    + "this device for \(own) (SHOPKEEPER_ENVIRONMENT)")
        }
        let root = try trustedRoot(response)
        let bundleID = BundleID(response.bundleId)
        return Session(
            token: response.token, expires: response.tokenExpires,
            owner: Owner(realm: response.realm.id, customer: response.customerId),
            customerName: response.customerName, bundleID: bundleID,
            environment: response.realm.environment,
            generation: response.realm.generation, mayBuy: response.canMakePayments,
            asksPriceConsent: response.asksPriceConsent == true,
            hasPurchaseIntents: response.hasPurchaseIntents == true, root: root,
            verifier: TransactionVerifier(
                roots: [root], bundleID: bundleID, environment: response.realm.environment),
            storeTime: response.now)
    }

    /// Returns the root for this store's signatures: the configured one, or the
    /// one pinned for the realm, or, if first contact is trusted, the one that
    /// the store sent.
    private func trustedRoot(_ response: SignInResponse) throws(DeviceFault) -> [UInt8] {
        guard let shown = Data(base64Encoded: response.rootCertificate).map({ [UInt8]($0) })
        else { throw .setUp("the store showed no root certificate in Base64") }
        if let root = configuration.root {
            guard root == shown else {
                throw .setUp(
                    "the store's root certificate is not the configured one "
                        + "(SHOPKEEPER_ROOT): it may belong to another store or to an attacker")
            }
            return root
        }
        if let pinned = record?.realm(response.realm.id)?.root {
            guard pinned == response.rootCertificate else {
                throw .setUp(
                    "the realm \(response.realm.name) shows another root certificate than "
                        + "before: its transactions are not accepted")
            }
            return shown
        }
        guard configuration.trustsFirstContact else {
            throw .setUp(
                "no root certificate is configured for \(configuration.storeURL): "
                    + "set SHOPKEEPER_ROOT or DeviceConfiguration.root to the store's")
        }
        return shown
    }

    private func remember(
        _ response: SignInResponse, _ session: Session
    ) throws(DeviceFault) {
        let who = QueueRecord.LastSignIn(owner: session.owner, name: configuration.customer)
        let realm = QueueRecord.KnownRealm(
            id: response.realm.id, generation: response.realm.generation,
            root: response.rootCertificate)
        let isKnown = record?.lastSignIn == who && record?.realm(realm.id) == realm
        guard !isKnown else { return }
        let isRestored = record?.realm(realm.id).map { $0.generation != realm.generation }
        if isRestored == true { readings = [:] }
        // Prices depend on the realm and on the customer's storefront.
        if isRestored == true || record?.lastSignIn?.owner != who.owner { productCache = [:] }
        try change(.signedIn(who, realm))
    }

    // MARK: Calls

    /// Makes a call in a session: the given one, whose owner the caller has checked,
    /// or the current one. Signs in again once if the token is rejected, and does
    /// not go on for another owner. `onAnswer` is called when any answer has arrived.
    func call(
        _ route: DeviceRoute, in session: Session? = nil, body: [UInt8]? = nil,
        ifNoneMatch: String? = nil, onAnswer: () -> Void = {}
    ) async throws(DeviceFault) -> DeviceReply {
        let first: Session
        if let session { first = session } else { first = try await signIn() }
        let reply = try await send(
            route, body: body, token: first.token, ifNoneMatch: ifNoneMatch)
        onAnswer()
        guard reply.status == 401 else { return reply }
        forget(first)
        let second = try await signIn()
        guard second.owner == first.owner else { throw .overtaken }
        // A realm that was restored from a backup has different revisions, so
        // the cursor is invalid.
        if case .transactions = route, second.generation != first.generation {
            throw .overtaken
        }
        return try await send(route, body: body, token: second.token, ifNoneMatch: ifNoneMatch)
    }

    private func forget(_ refused: Session) {
        if session?.token == refused.token { session = nil }
    }

    private func send(
        _ route: DeviceRoute, body: [UInt8]? = nil, token: String?, ifNoneMatch: String? = nil
    ) async throws(DeviceFault) -> DeviceReply {
        let call = DeviceCall(
            route: route, body: body, token: token, requestID: ports.randomness.uuid(),
            ifNoneMatch: ifNoneMatch)
        do throws(TransportFailure) {
            return try await ports.transport.send(call)
        } catch {
            throw DeviceFault(error)
        }
    }

    /// Returns the meaning of an unsuccessful answer. Only certain statuses are
    /// refusals by the store. After any other the outcome is open.
    func refusal(_ reply: DeviceReply) -> DeviceFault {
        let refusals: Set<Int> = [400, 401, 403, 404, 409, 413, 422]
        guard refusals.contains(reply.status), JSONNesting.isWithin(reply.body),
            let error = try? JSONDecoder().decode(WireError.self, from: Data(reply.body))
        else { return .unknown(nil) }
        return .refused(status: reply.status, error)
    }

    func decode<Value: Decodable>(_ reply: DeviceReply) throws(DeviceFault) -> Value {
        guard JSONNesting.isWithin(reply.body) else { throw .unknown(nil) }
        do {
            return try JSONDecoder().decode(Value.self, from: Data(reply.body))
        } catch {
            throw .unknown(nil)
        }
    }

    func encode(_ value: some Encodable) throws(DeviceFault) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(value))
        } catch {
            throw .setUp("a request could not be written as JSON: \(error)")
        }
    }
}
