// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The ways to read. Use cases name a customer, a number or the house, and not a
/// database.
extension Realm {
    /// Reads from the customer's database.
    func read<Answer: Sendable>(
        of customer: CustomerID, _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await storage(of: customer).read(body) }

    /// Looks up rows of the customer by their keys. See ``Storage/Storage/lookUp(_:)``.
    func lookUp<Answer: Sendable>(
        of customer: CustomerID, _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await storage(of: customer).lookUp(body) }

    /// Reads from the database of a number that ends with its customer's bucket,
    /// for example a transaction's.
    func read<Answer: Sendable>(
        ofNumber number: Int64, _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await clusters.of(number: number).read(body) }

    /// Looks up the first row of one statement of the customer. See ``Storage/Storage/find(_:_:)``.
    func find(
        of customer: CustomerID, _ statement: Statement, _ values: [SQLValue]
    ) async throws -> Row? { try await storage(of: customer).find(statement, values).first }

    /// Looks up the first row of one statement in the database of a number.
    func find(
        ofNumber number: Int64, _ statement: Statement, _ values: [SQLValue]
    ) async throws -> Row? { try await clusters.of(number: number).find(statement, values).first }

    /// Looks up rows by their keys in the database of a number.
    func lookUp<Answer: Sendable>(
        ofNumber number: Int64, _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await clusters.of(number: number).lookUp(body) }

    /// Reads from the home: what is administered, names, and the audit.
    func readHouse<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await home.read(body) }

    /// Looks up rows by their keys in the home.
    func lookUpHouse<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await home.lookUp(body) }

    /// Reads from every cluster, or only from that of `number`. Returns the
    /// home's answer first. Throws if one does not answer.
    func readAll<Answer: Sendable>(
        of number: Int64? = nil, _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> [Answer] { try await clusters.readAll(of: number, body) }

    /// Returns a page of a list that is divided among the clusters, each part in
    /// order. Throws if one of them does not answer.
    func page<Element: Sendable>(
        _ limit: Int, of number: Int64? = nil, by isBefore: (Element, Element) -> Bool,
        _ body: @escaping @Sendable (any Reading) throws -> [Element]
    ) async throws -> [Element] {
        try await clusters.page(limit, of: number, by: isBefore, body)
    }

    /// Reads from one cluster, which ``eachCluster(ifAway:_:_:)`` gave.
    func read<Answer: Sendable>(
        in cluster: Int, _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await clusters[cluster].read(body) }

    /// Calls the closure for each cluster, the home first. One other than the
    /// home that cannot be reached is passed over, and logged with `message`.
    func eachCluster(
        ifAway message: String, _ context: RequestContext? = nil,
        _ body: (_ cluster: Int) async throws -> Void
    ) async throws {
        for index in clusters.all.indices {
            do { try await body(index) } catch let fault as StorageFault
                where index > 0 && Self.isAway(fault)
            {
                ports.log(
                    .error, message, context,
                    ["cluster": clusters.name(index), "fault": "\(fault)"])
            }
        }
    }

    /// The commercial time on a customer's cluster, by the realm's clock or another
    /// one: for what is owed because of the customer.
    func now(for customer: CustomerID, by clock: ClockID = .realm) async throws -> Timestamp {
        let wall = ports.wall.now
        return try await read(of: customer) { reading in
            guard let own = try Self.clock(reading, of: clock) else {
                return try Self.now(reading, wall: wall)
            }
            return own.now(wall: wall)
        }
    }
}
