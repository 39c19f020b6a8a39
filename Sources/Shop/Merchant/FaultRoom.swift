// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// The failures that a sandbox simulates toward merchants' servers and devices. Each
/// change is audited. A production realm has none.
public struct FaultRoom: Sendable {
    let realm: Realm

    /// Returns what is switched on, by name.
    public func list() async throws -> FaultList {
        let rows = try await realm.readHouse { try $0.query(Statement.Faults.list, []) }
        return FaultList(
            faults: try rows.map {
                FaultRecord(name: try $0.text("name"), value: try $0.text("value"))
            })
    }

    /// Switches a failure on. Refusals, in order: `faultUnknown`, `faultInvalid`,
    /// `sandboxOnly`.
    public func set(
        _ name: String, _ request: SetFaultRequest, _ context: RequestContext
    ) async throws -> FaultRecord {
        let name = try Self.name(name)
        guard let fault = Fault(name, value: request.value),
            fault.value.utf8.count <= Fault.valueBytesMax
        else {
            throw Refusal(
                .badRequest, code: "faultInvalid", "`\(name.rawValue)` has no such value.",
                field: "value", rule: name.rule, remedy: "send one of them")
        }
        try checkSandbox()
        try await realm.house(.catalogue, context) { house -> Ending<Void> in
            let key: SQLValue = .text(name.rawValue)
            let before = try house.writing.first(Statement.Faults.one, [key])?.text("value")
            guard before != fault.value else { return .leave(()) }
            try house.writing.execute(
                Statement.Faults.put,
                RealmSchema.faults.row(["name": key, "value": .text(fault.value)]))
            try house.audit(
                "fault.set", name.rawValue, before: before.map { ["value": $0] },
                after: ["value": fault.value])
            return .commit(())
        }
        return FaultRecord(name: name.rawValue, value: fault.value)
    }

    /// Switches a failure off. Refusal: `faultUnknown`.
    public func clear(_ name: String, _ context: RequestContext) async throws {
        let name = try Self.name(name)
        try await realm.house(.catalogue, context) { house -> Ending<Void> in
            let key: SQLValue = .text(name.rawValue)
            let before = try house.writing.first(Statement.Faults.remove, [key])?.text("value")
            guard let before else { return .leave(()) }
            try house.audit("fault.clear", name.rawValue, before: ["value": before], after: nil)
            return .commit(())
        }
    }

    /// The failure under a name, if it is switched on.
    func current(_ name: Fault.Name) async throws -> Fault? {
        guard !realm.isProduction else { return nil }
        return try await realm.readHouse { try Self.read(name, $0) }
    }

    static func read(_ name: Fault.Name, _ reading: any Reading) throws -> Fault? {
        try reading.first(Statement.Faults.one, [.text(name.rawValue)])
            .flatMap { Fault(name, value: try $0.text("value")) }
    }

    private static func name(_ text: String) throws -> Fault.Name {
        guard let name = Fault.Name(rawValue: text) else {
            throw Refusal(
                .notFound, code: "faultUnknown", "There is no such failure to simulate.",
                field: "name",
                rule: Fault.Name.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", "),
                remedy: "name one of them")
        }
        return name
    }

    private func checkSandbox() throws {
        guard !realm.isProduction else {
            throw Refusal(
                .forbidden, code: "sandboxOnly", "A production realm simulates no failures.",
                field: "realm", rule: "failures are simulated in sandboxes",
                remedy: "name a sandbox")
        }
    }
}

extension Realm {
    /// The failures that a sandbox simulates.
    public var faults: FaultRoom { FaultRoom(realm: self) }
}
