// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import PurchaseKit
import SignedData
import StoreWire
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A served store that is killed while customers buy.
@Suite(.unforgiven, .timeLimit(.minutes(15))) struct KillTests {
    private static let killsMin = 20
    private static let buyers = 4

    @Test(arguments: [Seeds.fresh])
    func `kill -9 with purchases unanswered loses none and makes none twice`(
        seed: UInt64
    ) async throws {
        var chance = SeededGenerator(seed)
        let data = try temporaryFolder("killed")
        let siege = Siege()
        let database = try await TestEngine.database()
        var (store, url) = try await ServedProcess.start(
            data: data.path, port: 0, database: database)
        let port = try #require(url.port)
        let parent = try Parent(url: url, data: data.path)
        let buyers = try await signIn(url, siege, parent, &chance)
        let buying = Task { try await Self.buy(buyers) }

        var unanswered: [Int] = []
        for _ in 0..<(8 * Self.killsMin) where unanswered.count < Self.killsMin {
            siege.open(killAt: chance.integer(in: 1...12))
            try await siege.whenDue()
            await giveWay(times: chance.integer(in: 0...100))
            store.kill9()
            let left = await siege.close()
            if left > 0 { unanswered.append(left) }
            await store.ended()
            store = try await restart(data.path, port, database)
        }
        siege.end()
        siege.open(killAt: 0)
        try await buying.joined
        for id in siege.answers.keys.sorted() { try await Self.askAgain(id, buyers, siege) }

        print("killed with purchases unanswered: \(unanswered), seed \(seed)")
        #expect(unanswered.count == Self.killsMin)
        try await compare(siege.answers, url, data.path, buyers[0].root)
        store.kill9()
        await store.ended()
    }

    /// Every purchase has one transaction, the store has no other, and all verify.
    private func compare(
        _ answers: [String: Set<String>], _ url: URL, _ data: String, _ root: [UInt8]
    ) async throws {
        let records = try await records(url, data)
        let told = Dictionary(grouping: records, by: { $0.purchaseId ?? "none" })
            .mapValues { $0.map { $0.payload.transactionId ?? "none" } }
        let verifier = TransactionVerifier(
            roots: [root], bundleID: "com.example.monkeycredits", environment: .sandbox)

        #expect(answers.count > Self.killsMin)
        #expect(answers.keys.contains(where: Buyer.asksFirst))
        #expect(answers.allSatisfy { $0.value.count == 1 })
        #expect(told == answers.mapValues { Array($0) })
        #expect(Set(records.map(\.payload.transactionId)).count == answers.count)
        for record in records {
            let verified = try verifier.verify(record.signedTransactionInfo, now: nil)
            #expect(verified.payload.transactionId == record.payload.transactionId)
        }
    }

    /// A port may be somebody else's for a moment: a few tries.
    private func restart(
        _ data: String, _ port: Int, _ database: String?
    ) async throws -> ServedProcess {
        for _ in 0..<4 {
            let started = try? await ServedProcess.start(
                data: data, port: port, database: database)
            if let started { return started.0 }
        }
        return try await ServedProcess.start(data: data, port: port, database: database).0
    }

    private func signIn(
        _ url: URL, _ siege: Siege, _ parent: Parent, _ chance: inout SeededGenerator
    ) async throws -> [SignedInBuyer] {
        var buyers: [SignedInBuyer] = []
        for number in 0..<Self.buyers {
            let transport = HTTPTransport(storeURL: url)
            let randomness = Randomness.seeded(chance.next())
            await parent.addCustomer("buyer-\(number)")
            let request = SignInRequest(
                deviceUUID: randomness.uuid(), customer: "buyer-\(number)")
            let reply = try await transport.send(
                DeviceCall(
                    route: .signIn, body: Array(try JSONEncoder().encode(request)),
                    requestID: "buyer-\(number)"))
            let response = try JSONDecoder().decode(
                SignInResponse.self, from: Data(reply.body))
            let root = try #require(Data(base64Encoded: response.rootCertificate))
            let buyer = Buyer(
                number: number, transport: transport, token: response.token, siege: siege,
                parent: parent, randomness: randomness)
            buyers.append(SignedInBuyer(buyer: buyer, root: Array(root)))
        }
        return buyers
    }

    private static func buy(_ buyers: [SignedInBuyer]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for buyer in buyers { group.addTask { try await buyer.buyer.buy() } }
            try await group.waitForAll()
        }
    }

    private static func askAgain(
        _ id: String, _ buyers: [SignedInBuyer], _ siege: Siege
    ) async throws {
        let number = try #require(siege.buyers[id])
        let isAnswered = try await buyers[number].buyer.ask(id)
        #expect(isAnswered, "\(id)")
    }

    /// All transactions, as the operator sees them.
    private func records(_ url: URL, _ data: String) async throws -> [TransactionRecord] {
        struct Run: Decodable { var operatorKey: String }
        let run = try JSONDecoder().decode(
            Run.self, from: try Data(contentsOf: URL(fileURLWithPath: data + "/run.json")))
        var records: [TransactionRecord] = []
        var after: String?
        repeat {
            let path = "/operator/v1/transactions?limit=500" + (after.map { "&after=\($0)" } ?? "")
            let address = try #require(URL(string: url.absoluteString + path))
            var request = URLRequest(url: address)
            request.setValue("Bearer \(run.operatorKey)", forHTTPHeaderField: "Authorization")
            let (bytes, _) = try await URLSession.shared.data(for: request)
            let page = try JSONDecoder().decode(TransactionRecords.self, from: bytes)
            records += page.transactions
            after = page.next
        } while after != nil
        return records
    }
}

struct SignedInBuyer: Sendable {
    let buyer: Buyer
    let root: [UInt8]
}
