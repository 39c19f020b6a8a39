// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire

extension Store {
    /// Returns every realm, ordered by name.
    public func realms() async throws -> [RealmSummary] {
        try await registry.read { reading in
            try reading.query(Statement.Registry.liveRealms, []).map { try RealmRow($0).summary }
        }
    }

    /// Creates a realm. Refusals, in order: `realmNameInvalid`,
    /// `environmentUnknown`, `seedOfProduction`, `realmExists`.
    public func createRealm(
        _ request: CreateRealmRequest,
        _ context: RequestContext = RequestContext(requestID: "none", actor: "server")
    ) async throws -> RealmSummary {
        try Self.check(request)
        let environment = request.environment ?? .sandbox
        if environment == .production { _ = try await authorities.authority(.production) }
        guard
            let row = try await insertRealm(
                request.name, environment, seed: request.seed, context)
        else {
            throw Self.realmExists
        }
        _ = try await opened(row)
        ports.log(.info, "realm made", nil, ["realm": row.id, "environment": environment.rawValue])
        return row.summary
    }

    /// Deletes a realm with its contents. Refusals: `defaultRealm`,
    /// `realmNotFound`, `processorIsOwed`.
    public func deleteRealm(
        named name: String,
        _ context: RequestContext = RequestContext(requestID: "none", actor: "server")
    ) async throws {
        guard name != Self.defaultRealm else {
            throw Refusal(
                .conflict, code: "defaultRealm", "The default realm cannot be deleted.",
                field: "name", rule: "a store always has the realm `\(Self.defaultRealm)`",
                remedy: "start with an empty data directory instead")
        }
        guard let row = try await realmRow(named: name) else { throw Self.realmNotFound(name) }
        // Reports earlier resets first, because the realm's database is
        // deleted.
        if let realm = try? await opened(row) {
            await auditResetsQuietly(of: realm, context)
            try await realm.keeping.endSales()
        }
        let now = ports.wall.now
        let who = context.actor
        let deleted = try await registry.write { writing -> String? in
            let row = try writing.first(
                Statement.Registry.deleteRealm, [.text(name), .integer(now.milliseconds)])
            guard let row else { return nil }
            let id = try row.text("id")
            try writing.execute(Statement.ResetNotes.drop, [.text(id)])
            try AuditEntry(
                who: who, wall: now, deed: "realm.delete", subject: name,
                before: ["environment": try row.text("environment"), "id": id], after: nil
            ).writeInRegistry(writing)
            return id
        }
        guard let deleted else { throw Self.realmNotFound(name) }
        keyRealms.forget(realm: name)
        try await remove(realm: deleted)
        ports.log(.info, "realm deleted", nil, ["realm": deleted])
    }

    static let realmExists = Refusal(
        .conflict, code: "realmExists", "There is a realm of this name already.",
        field: "name", rule: "a realm's name is its own",
        remedy: "choose another name, or delete the realm")

    static func realmNotFound(_ name: String) -> Refusal {
        Refusal(
            .notFound, code: "realmNotFound", "There is no realm of this name.", field: "realm",
            rule: "a realm is named as it was when it was made",
            remedy: "list the realms, or create it")
    }

    func realmRow(named name: String) async throws -> RealmRow? {
        guard RealmRow.isName(name) else { return nil }
        return try await registry.read { reading in
            try reading.first(Statement.Registry.realmByName, [.text(name)]).map(RealmRow.init)
        }
    }

    /// Refusals: `environmentUnknown`, `environmentMismatch`.
    func makeDefaultRealm() async throws {
        let environment = ports.defaultRealmEnvironment
        guard environment != .production else {
            throw Refusal(
                .badRequest, code: "environmentUnknown", "The default realm is a sandbox.",
                field: "environment",
                rule: Environment.known.filter { $0 != .production }.map(\.rawValue)
                    .joined(separator: ", "),
                remedy: "create a production realm beside it: `realm create NAME --production`")
        }
        if let known = try await realmRow(named: Self.defaultRealm) {
            guard let environment, environment != known.environment else { return }
            throw Refusal(
                .conflict, code: "environmentMismatch",
                "The default realm is there, and is for \(known.environment).",
                field: "environment", rule: "a realm's environment is fixed when it is made",
                remedy: "create a realm beside it, or begin with an empty data directory")
        }
        _ = try await insertRealm(
            Self.defaultRealm, environment ?? .sandbox, seed: ports.defaultRealmSeed,
            RequestContext(requestID: "start", actor: "server"))
    }

    /// Completes deletions that an earlier process did not complete.
    func removeDeletedRealms() async throws {
        let ids = try await registry.read { reading in
            try reading.query(Statement.Registry.unremovedRealms, []).map { try $0.text("id") }
                .filter(RealmRow.isID)
        }
        for id in ids {
            do { try await remove(realm: id) } catch let fault as StorageFault
                where !ports.places.clusters.isEmpty && Realm.isAway(fault)
            {
                ports.log(
                    .warning, "a deleted realm is still on a cluster that does not answer", nil,
                    ["realm": id, "fault": "\(fault)"])
            }
        }
    }

    /// How long a start waits for payment processors, all realms together.
    static let settleSeconds = 5

    /// Asks processors for the outcome of purchases that are authorising. What is
    /// not settled in ``settleSeconds`` is left to the workers, so that a
    /// processor that hangs does not keep a store from opening.
    func settleRealms() async throws {
        let sleep = ports.sleep
        let deadline = Task { try await sleep(.seconds(Self.settleSeconds)) }
        defer { deadline.cancel() }
        for summary in try await realms() {
            guard let row = try await realmRow(named: summary.name) else { continue }
            let realm = try await opened(row)
            try await settle(realm, until: deadline)
            try await auditResets(of: realm)
            try await keyRealms.claim(
                all: try await realm.merchant.serverKeys().map(\.keyId), realm: row.id)
            // Files stay open only for realms that are used.
            var isUsed = realm.processor != nil || row.name == Self.defaultRealm
            if !isUsed { isUsed = try await realm.keeping.owesWork() }
            if !isUsed {
                await closeRealm(id: row.id)
            }
        }
    }

    private func settle(_ realm: Realm, until deadline: Task<Void, any Error>) async throws {
        let settling = Task {
            try await realm.purchases.settleAll(RequestContext(requestID: "start"))
        }
        let (ended, end) = AsyncStream.makeStream(of: Bool.self)
        Task {
            _ = await settling.result
            end.yield(true)
        }
        Task { if (try? await deadline.value) != nil { end.yield(false) } }
        for await isSettled in ended {
            if isSettled { return try await settling.value }
            settling.cancel()
            ports.log(
                .warning, "a payment processor is slow: its purchases are settled later", nil,
                ["realm": realm.description.id])
            return
        }
    }

    func remove(realm id: String) async throws {
        await closeRealm(id: id)
        for cluster in ports.places.clusters { try await cluster.deleteRealm(id) }
        try await ports.places.deleteRealm(id)
        let now = ports.wall.now
        try await registry.write { writing in
            try writing.execute(
                Statement.Registry.markRemoved, [.text(id), .integer(now.milliseconds)])
        }
    }

    /// Nil if the name is in use.
    private func insertRealm(
        _ name: String, _ environment: Environment, seed: Int64?, _ context: RequestContext
    ) async throws -> RealmRow? {
        let id = ports.randomness.hex(8)
        let now = ports.wall.now
        let values = RegistrySchema.realms.row([
            "id": .text(id), "name": .text(name), "environment": .text(environment.rawValue),
            "seed": .optional(seed), "created_at": .integer(now.milliseconds),
        ])
        let entry = audit(
            "realm.create", name, before: nil,
            after: [
                "environment": "\(environment)", "id": id, "seed": seed.map { "\($0)" },
            ], context)
        let inserted = try await registry.write { writing in
            guard try writing.first(Statement.Registry.insertRealm, values) != nil else {
                return false
            }
            try entry.writeInRegistry(writing)
            return true
        }
        guard inserted else { return nil }
        return try await realmRow(named: name)
    }

    static func checkRealmName(_ name: String) throws {
        guard RealmRow.isName(name) else {
            throw Refusal(
                .badRequest, code: "realmNameInvalid", "This is not a realm's name.",
                field: "name", rule: "1 to 40 lower-case letters a–z, digits and `-`",
                remedy: "choose a name such as `test-1`")
        }
    }

    private static func check(_ request: CreateRealmRequest) throws {
        try checkRealmName(request.name)
        let environment = request.environment ?? .sandbox
        guard Environment.known.contains(environment) else {
            throw Refusal(
                .badRequest, code: "environmentUnknown", "There is no such kind of realm.",
                field: "environment",
                rule: Environment.known.map(\.rawValue).joined(separator: ", "),
                remedy: "leave it out for a sandbox")
        }
        guard request.seed == nil || environment != .production else {
            throw Refusal(
                .badRequest, code: "seedOfProduction", "A production realm has no seed.",
                field: "seed", rule: "only a sandbox repeats itself",
                remedy: "leave the seed out, or make a sandbox")
        }
    }

}
