// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import StrictJSON

/// Asks stores. It keeps to their limits, repeats what failed, and leaves a server
/// alone that does not answer.
struct StoreClient: Sendable {
    /// One environment of a store, for one app.
    struct Place: Sendable {
        let address: StoreAccess.Address
        let bundleID: BundleID
        let signer: BearerTokenSigner
        let sharedSecret: String?

        var environment: Environment { address.environment }
        /// The key of its reading of the notification history.
        var key: [SQLValue] {
            [.text(root), .text(environment.rawValue), .text(bundleID.value)]
        }
        var root: String { CertificateAuthority.fingerprint(of: address.root) }
    }

    /// The answer of an error: Apple's code, or 0.
    struct Rejection: Error, Hashable {
        let status: Int
        let code: Int

        /// Whether the store knows its app or key, but no such transaction. Any other
        /// 404, such as that of a wrong address, proves nothing.
        var isUnknown: Bool { Self.unknown.contains(code) }
        private static let unknown = [
            4_000_006, 4_000_048, 4_040_001, 4_040_003, 4_040_010,
        ]
    }

    static let answerBytesMax = 4 * 1024 * 1024

    let door: StoreDoor
    let places: [Place]
    private let gate = StoreGate()
    private let wall: WallClock
    private let randomness: Randomness

    init(
        door: StoreDoor, _ configuration: LedgerConfiguration, wall: WallClock,
        randomness: Randomness
    ) throws {
        self.door = door
        self.wall = wall
        self.randomness = randomness
        places = try configuration.stores.flatMap { store in
            try configuration.apps.flatMap { app in
                let signer = try store.signer(for: app.bundleID)
                return store.addresses.filter { app.environments.contains($0.environment) }.map {
                    Place(
                        address: $0, bundleID: app.bundleID, signer: signer,
                        sharedSecret: store.sharedSecret)
                }
            }
        }
    }

    /// The places to ask about an app, production first.
    func places(of bundleID: String, _ environment: Environment?) -> [Place] {
        let found = places.filter {
            $0.bundleID.value.isSame(as: bundleID)
                && (environment == nil || $0.environment == environment)
        }
        return found.filter { $0.environment == .production }
            + found.filter { $0.environment != .production }
    }

    /// Asks the App Store Server API. Throws ``StoreTrouble``, or ``Rejection`` for
    /// an error that a repetition does not change.
    func ask<Answer: Decodable>(
        _ place: Place, _ method: String = "GET", _ path: String, body: [UInt8] = [],
        rule: RetryRule, as type: Answer.Type = Answer.self
    ) async throws -> Answer {
        let host = place.address.api
        let answer = try await send(place, host, rule: rule) { timeout in
            var headers = [
                "Accept": "application/json",
                "Authorization": "Bearer " + (try place.signer.token(now: wall.now)),
            ]
            if !body.isEmpty { headers["Content-Type"] = "application/json" }
            return StoreCall(
                .store, method, host + path, headers: headers, body: body,
                timeoutMilliseconds: timeout, answerBytesMax: Self.answerBytesMax)
        }
        switch answer.status {
        case 200..<300: return try decode(answer, host)
        case 401:
            gate.succeed(host)
            throw StoreTrouble(.keyRefused, "the store does not accept the merchant's key")
        default:
            gate.succeed(host)
            let error = try? StrictJSON.decode(AppleErrorResponse.self, from: answer.body)
            throw Rejection(status: answer.status, code: error?.errorCode ?? 0)
        }
    }

    /// Asks verifyReceipt, which always answers with the status 200.
    func ask(
        verifyReceipt place: Place, receipt: String, rule: RetryRule
    ) async throws -> VerifyReceiptReply {
        let body = try StrictJSON.encode(
            VerifyReceiptRequest(receiptData: receipt, password: place.sharedSecret))
        let host = place.address.verifyReceipt
        let answer = try await send(place, host, rule: rule) { timeout in
            StoreCall(
                .store, "POST", host,
                headers: ["Content-Type": "application/json"], body: body,
                timeoutMilliseconds: timeout, answerBytesMax: Self.answerBytesMax)
        }
        guard answer.status == 200 else {
            gate.succeed(host)
            throw StoreTrouble(.unreachable, "verifyReceipt answered with \(answer.status)")
        }
        return try decode(answer, host)
    }

    private func decode<Answer: Decodable>(
        _ answer: StoreAnswer, _ host: String
    ) throws -> Answer {
        do {
            let decoded = try StrictJSON.decode(
                Answer.self, from: answer.body, bytesMax: Self.answerBytesMax)
            gate.succeed(host)
            return decoded
        } catch {
            gate.fail(host, at: wall.now)
            throw StoreTrouble(.unreachable, "the store's answer cannot be read")
        }
    }

    /// Sends a call until there is an answer other than of a fault. Whether the server works is
    /// known once the answer was read.
    private func send(
        _ place: Place, _ host: String, rule: RetryRule,
        _ make: (_ timeout: Int) throws -> StoreCall
    ) async throws -> StoreAnswer {
        var attempt = 1
        while true {
            let turn = try gate.enter(
                host, perSecond: place.address.callsPerSecond, waitMax: rule.turnMilliseconds,
                at: wall.now)
            if turn.pause > 0 {
                try await door.sleep(.milliseconds(turn.pause))
                try gate.check(turn, host, at: wall.now)
            }
            let reason: String
            do {
                let answer = try await door.send(try make(rule.timeoutMilliseconds))
                guard let trouble = trouble(answer, host) else { return answer }
                guard trouble.until == nil else { throw trouble }
                reason = trouble.reason
            } catch let unreached as StoreUnreached {
                try Task.checkCancellation()
                gate.fail(host, at: wall.now)
                reason = unreached.reason
            }
            let random = randomness.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard let rest = rule.pauseMilliseconds(afterAttempt: attempt, random: random) else {
                throw StoreTrouble(.unreachable, reason)
            }
            try await door.sleep(.milliseconds(rest))
            attempt += 1
        }
    }

    /// Judges an answer's status. Nil if it is an answer to the question.
    private func trouble(_ answer: StoreAnswer, _ host: String) -> StoreTrouble? {
        let now = wall.now
        let until = RetryAfter.instant(answer.retryAfter, now: now)
        switch answer.status {
        case 429:
            let until = until ?? now.adding(milliseconds: CircuitBreaker.pauseMilliseconds)
            gate.rest(host, until: until)
            return StoreTrouble(.unreachable, "the store's rate limit is reached", until: until)
        case 500...:
            gate.fail(host, at: now)
            if let until { gate.rest(host, until: until) }
            return StoreTrouble(
                .unreachable, "the store answered with \(answer.status)", until: until)
        default: return nil
        }
    }
}
