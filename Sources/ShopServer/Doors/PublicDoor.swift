// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Shop
import SignedData
import StoreWire

/// What every client may ask without a key: the server's health, and the
/// certificate for checking signatures.
struct PublicDoor: Sendable {
    let store: Store
    let call: Call

    init(_ visit: Visit) {
        store = visit.store
        call = visit.call
    }

    /// Answers that the process runs. Does not use the storage.
    func health() throws -> Response {
        try .json(ServerStatus(status: "ok"))
    }

    /// Answers whether the store can sell: its storage accepts writes, its keys
    /// are available, and the server is not about to stop.
    func ready() async throws -> Response {
        try call.checkReadiness()
        let store = store
        let late = RequestMistake.notReady(reason: "The storage does not answer.")
        do {
            let readiness = try await call.ports.deadline(
                call.configuration.readyTimeout, or: late
            ) { try await store.readiness() }
            let away = readiness.clustersAway
            return try .json(
                ServerStatus(status: "ready", clustersAway: away.isEmpty ? nil : away))
        } catch { throw RequestMistake.unready(error) }
    }

    func rootCertificate() async throws -> Response {
        let root = try await store.rootCertificate(try kind())
        switch call.query("format") ?? "der" {
        case "der": return .bytes(root.der, type: "application/pkix-cert")
        case "pem": return .bytes(Array(root.pem.utf8), type: "application/x-pem-file")
        default:
            throw RequestMistake.queryInvalid(
                field: "format", rule: "`der` or `pem`", remedy: "leave it out for DER")
        }
    }

    private func kind() throws -> AuthorityKind {
        guard let kind = AuthorityKind(rawValue: call.query("kind") ?? "sandbox") else {
            throw RequestMistake.queryInvalid(
                field: "kind", rule: "`sandbox` or `production`",
                remedy: "leave it out for the sandbox's root")
        }
        return kind
    }
}
