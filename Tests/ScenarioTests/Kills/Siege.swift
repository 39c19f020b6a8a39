// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import PurchaseKit
import StoreWire
import Synchronization
import TestSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What customers asked and heard while a store is killed again and again. A
/// class, because customers and the one who kills share it.
final class Siege: Sendable {
    private struct State {
        var isUp = false
        var isOver = false
        var sent = 0
        var killAt = 0
        var underWay: Set<String> = []
        /// Sent to the life that was killed, and not answered by it.
        var unanswered = 0
        var answers: [String: Set<String>] = [:]
        /// The numbers of those who bought, by purchase id.
        var buyers: [String: Int] = [:]

        var isDue: Bool { sent >= killAt }
        var sight: String {
            "\(sent) purchases sent, \(underWay.count) under way, \(answers.count) answered"
        }
    }

    private let state = Mutex(State())

    var isOver: Bool { state.withLock { $0.isOver } }
    /// Transaction ids that were answered, by purchase id.
    var answers: [String: Set<String>] { state.withLock { $0.answers } }
    var buyers: [String: Int] { state.withLock { $0.buyers } }
    var underWay: Int { state.withLock { $0.underWay.count } }

    /// The store listens; it shall be killed around its `killAt`-th purchase.
    func open(killAt: Int) {
        state.withLock { state in
            state.isUp = true
            state.sent = 0
            state.unanswered = 0
            state.killAt = killAt
        }
    }

    /// The store has been killed. Returns how many purchases it left
    /// unanswered, when all that were under way have ended.
    func close() async -> Int {
        state.withLock { $0.isUp = false }
        await comes("an end of each purchase that was under way") { $0.underWay.isEmpty }
        return state.withLock { $0.unanswered }
    }

    /// No more purchases are begun. What was begun is asked until it is answered.
    func end() { state.withLock { $0.isOver = true } }

    /// Returns when the store listens; throws when it never does.
    func whenUp() async throws {
        guard await comes("a store that listens", { $0.isUp }) else { throw CancellationError() }
    }

    /// Returns when it is time to kill; throws when that time never comes.
    func whenDue() async throws {
        guard await comes("the purchase to kill at", { $0.isDue }) else {
            throw CancellationError()
        }
    }

    func begin(_ id: String, by buyer: Int) {
        state.withLock { state in
            state.buyers[id] = buyer
            state.underWay.insert(id)
            state.sent += 1
        }
    }

    func answered(_ id: String, transaction: String) {
        state.withLock { state in
            state.underWay.remove(id)
            state.answers[id, default: []].insert(transaction)
        }
    }

    /// `isSent`: whether the purchase had left the device.
    func unanswered(_ id: String, isSent: Bool) {
        state.withLock { state in
            state.underWay.remove(id)
            if isSent { state.unanswered += 1 }
        }
    }

    @discardableResult
    private func comes(_ what: String, _ isSo: (State) -> Bool) async -> Bool {
        await until(what, seen: state.withLock { $0.sight }) { state.withLock { isSo($0) } }
    }
}

/// Makes the customers, and answers payments that wait for approval, with the
/// operator's key.
struct Parent: Sendable {
    private struct Run: Decodable { let operatorKey: String }

    let url: URL
    let key: String

    init(url: URL, data: String) throws {
        self.url = url
        let run = try Data(contentsOf: URL(fileURLWithPath: data + "/run.json"))
        key = try JSONDecoder().decode(Run.self, from: run).operatorKey
    }

    func addCustomer(_ name: String) async {
        await send("POST", "/customers", #"{"name":"\#(name)"}"#)
    }

    /// Whether the store has heard is for the next question to tell.
    func approve(_ id: String) async {
        await send("PUT", "/purchases/\(id)/approval", #"{"answer":"approved"}"#)
    }

    private func send(_ method: String, _ path: String, _ body: String) async {
        guard let address = URL(string: url.absoluteString + "/operator/v1" + path) else { return }
        var request = URLRequest(url: address)
        request.httpMethod = method
        request.httpBody = Data(body.utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
        _ = try? await URLSession.shared.data(for: request)
    }
}

/// A customer's device that buys without pause, under purchase ids that it
/// keeps until they are answered. It finishes each before the next, because what is
/// unfinished is not sold again.
struct Buyer: Sendable {
    let number: Int
    let transport: HTTPTransport
    let token: String
    let siege: Siege
    let parent: Parent
    let randomness: Randomness

    func buy() async throws {
        while !siege.isOver {
            let id = randomness.uuid()
            while try await !ask(id) { try Task.checkCancellation() }
            for transaction in siege.answers[id] ?? [] {
                while try await !finish(transaction) { try Task.checkCancellation() }
            }
        }
    }

    /// Whether there was an answer.
    func ask(_ id: String) async throws -> Bool {
        try await siege.whenUp()
        siege.begin(id, by: number)
        do throws(TransportFailure) {
            let reply = try await transport.send(try call(id))
            guard reply.status == 200 else {
                siege.unanswered(id, isSent: true)
                return false
            }
            if state(reply) == "waiting" {
                siege.unanswered(id, isSent: false)
                await parent.approve(id)
                return false
            }
            siege.answered(id, transaction: signed(reply))
            return true
        } catch .notSent {
            siege.unanswered(id, isSent: false)
            return false
        } catch {
            siege.unanswered(id, isSent: true)
            return false
        }
    }

    /// Whether the store has confirmed it.
    private func finish(_ transaction: String) async throws -> Bool {
        try await siege.whenUp()
        let call = DeviceCall(
            route: .finish(transactionID: transaction), token: token,
            requestID: "buyer-\(number)")
        return (try? await transport.send(call))?.status == 200
    }

    private func call(_ id: String) throws(TransportFailure) -> DeviceCall {
        let request = PurchaseRequest(
            productId: "com.example.monkeycredits.credits5", quantity: 1, unitPrice: 990,
            currency: "USD", simulatesAskToBuyInSandbox: Self.asksFirst(id))
        guard let body = try? JSONEncoder().encode(request) else { throw .unknown(nil) }
        return DeviceCall(
            route: .purchase(id: id), body: Array(body), token: token,
            requestID: "buyer-\(number)")
    }

    /// Half of the payments wait for a parent.
    static func asksFirst(_ id: String) -> Bool { id.last.map { $0 < "8" } ?? false }

    private func state(_ reply: DeviceReply) -> String? {
        (try? JSONDecoder().decode(PurchaseResponse.self, from: Data(reply.body)))?.state
    }

    /// The id in a signed transaction; it is verified once all is over.
    private func signed(_ reply: DeviceReply) -> String {
        let response = try? JSONDecoder().decode(
            PurchaseResponse.self, from: Data(reply.body))
        return response?.signedTransaction.flatMap(Self.transactionID) ?? "none"
    }

    private static func transactionID(_ compact: String) -> String? {
        struct Payload: Decodable { var transactionId: String }
        let parts = compact.split(separator: ".")
        guard parts.count == 3 else { return nil }
        var base64 = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        while base64.count % 4 != 0 { base64 += "=" }
        return Data(base64Encoded: String(base64)).flatMap {
            try? JSONDecoder().decode(Payload.self, from: $0).transactionId
        }
    }
}
