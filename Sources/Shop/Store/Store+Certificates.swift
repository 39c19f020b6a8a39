// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire

extension Store {
    /// Returns every issued certificate, oldest first, and which of them are
    /// revoked.
    public func certificates() async throws -> [CertificateSummary] {
        let revoked = try await revocations()
        var list: [CertificateSummary] = []
        for kind in AuthorityKind.allCases {
            let generations = try await authorities.generations(kind)
            for (index, generation) in generations.enumerated() {
                for certificate in generation.issued
                where !list.contains(where: { $0.serialNumber == certificate.serialText }) {
                    let isInUse =
                        generations.last?.issued.contains { $0.serial == certificate.serial }
                        == true
                    list.append(
                        CertificateSummary(
                            kind: kind.rawValue, role: certificate.role.rawValue,
                            serialNumber: certificate.serialText, generation: index + 1,
                            isInUse: isInUse, revokedDate: revoked[certificate.serialText]))
                }
            }
        }
        return list
    }

    /// Issues new leaves (and optionally a new intermediate), with which every
    /// process of the store signs within seconds. Earlier signatures remain
    /// valid. A note is written before the keys are stored. If the process dies
    /// in between, either the rotation was made and the next opening of the
    /// store audits it, or it was not made at all. Refusals, in order:
    /// `kindUnknown`, `authorityNotMade`, `rootKeyMissing`, `rootKeyInvalid`,
    /// `rotatedAlready`.
    public func rotateCertificates(
        _ request: RotateCertificatesRequest,
        _ context: RequestContext = RequestContext(requestID: "none", actor: "server")
    ) async throws -> [CertificateSummary] {
        let kind = try Self.kind(request.kind)
        guard let old = try await authorities.existing(kind) else {
            throw Refusal(
                .notFound, code: "authorityNotMade",
                "The \(kind.rawValue) certificate authority has not been made.", field: "kind",
                rule: "production's is made with the first production realm",
                remedy: "create a production realm, or name the sandbox's")
        }
        let withIntermediate = request.withIntermediate ?? false
        if withIntermediate, request.rootKey == nil, !old.hasRootKey {
            throw Refusal(
                .conflict, code: "rootKeyMissing", "The root's key is kept elsewhere.",
                field: "rootKey", rule: "a new intermediate is signed with it",
                remedy: "send it along with --root-key; it is used once and not kept")
        }
        try await auditRotations()
        let (before, who, wall) = (old.serialWords, context.actor, ports.wall.now)
        let rotated: CertificateAuthority?
        do {
            rotated = try await authorities.rotate(
                kind, withIntermediate: withIntermediate, rootKey: request.rootKey
            ) { generation, next in
                let note = RotationNote(
                    kind: kind, generation: generation, before: before, after: next.serialWords,
                    who: who, wall: wall)
                try await registry.write { try note.write($0) }
            }
        } catch let fault as AuthorityFault where request.rootKey != nil {
            throw Refusal(
                .badRequest, code: "rootKeyInvalid", "\(fault)", field: "rootKey",
                rule: "the PEM of this root's private key",
                remedy: "read it from where you keep it")
        }
        try await auditRotations()
        guard rotated != nil else {
            throw Refusal(
                .conflict, code: "rotatedAlready", "Another rotation was made at the same moment.",
                remedy: "look at the list, and rotate again if that was not what you wanted")
        }
        ports.log(.info, "certificates rotated", nil, ["kind": kind.rawValue])
        return try await certificates()
    }

    /// Revokes a certificate, so that online checks report it as revoked from
    /// then on. A repeated call has no effect. Refusals, in order:
    /// `certificateUnknown`, `certificateInUse`.
    public func revokeCertificate(
        _ serialNumber: String,
        _ context: RequestContext = RequestContext(requestID: "none", actor: "server")
    ) async throws -> CertificateSummary {
        let serial = serialNumber.lowercased()
        guard let known = try await certificates().first(where: { $0.serialNumber == serial })
        else {
            throw Refusal(
                .notFound, code: "certificateUnknown",
                "This store has issued no certificate of that serial number.",
                field: "serialNumber", rule: "hexadecimal digits from the list of certificates",
                remedy: "list the certificates")
        }
        guard !known.isInUse else {
            throw Refusal(
                .conflict, code: "certificateInUse", "The store signs with this certificate.",
                field: "serialNumber", rule: "what is revoked signs nothing",
                remedy: "rotate the certificates first, then revoke the old one")
        }
        let now = ports.wall.now
        let entry = audit(
            "certificate.revoke", serial, before: ["role": known.role, "state": "valid"],
            after: ["role": known.role, "state": "revoked"], context)
        let date = try await registry.write { writing in
            let values: [SQLValue] = [.text(serial), .integer(now.milliseconds)]
            if try writing.first(Statement.Certificates.revoke, values) != nil {
                try entry.writeInRegistry(writing)
            }
            return try writing.first(Statement.Certificates.revocation, [.text(serial)])?
                .integer("revoked_at")
        }
        ports.log(.info, "certificate revoked", nil, ["serial": serial])
        var revoked = known
        revoked.revokedDate = date.map(Timestamp.init(milliseconds:)) ?? now
        return revoked
    }

    /// Answers a request for the status of certificates (OCSP), both in DER. An
    /// invalid request gets an answer with an error status.
    public func certificateStatus(_ request: [UInt8]) async throws -> [UInt8] {
        var all: [[FormerAuthority]] = []
        for kind in AuthorityKind.allCases {
            all.append(try await authorities.generations(kind))
        }
        let revoked = try await revocations()
        for generations in all {
            guard let asked = generations.last(where: { $0.status.isAsked(by: request) }) else {
                continue
            }
            let issued = generations.flatMap(\.issued)
            let dates = issued.compactMap { certificate in
                revoked[certificate.serialText].map { (certificate.serial, $0) }
            }
            return try asked.status.answer(
                request, wall: ports.wall.now,
                revoked: Dictionary(dates, uniquingKeysWith: { first, _ in first }),
                formerly: Set(issued.map(\.serial)))
        }
        // The certificates of another authority, or an invalid request. The
        // sandbox's responder answers with the right error.
        let any = try await authorities.authority(.sandbox)
        return try any.status.answer(request, wall: ports.wall.now)
    }

    /// Returns when each certificate was revoked, by its serial number.
    func revocations() async throws -> [String: Timestamp] {
        let rows = try await registry.read {
            try $0.query(Statement.Certificates.revocations, [])
        }
        var dates: [String: Timestamp] = [:]
        for row in rows {
            dates[try row.text("serial")] = Timestamp(
                milliseconds: try row.integer("revoked_at"))
        }
        return dates
    }

    private static func kind(_ text: String?) throws -> AuthorityKind {
        guard let kind = AuthorityKind(rawValue: text ?? AuthorityKind.sandbox.rawValue) else {
            throw Refusal(
                .badRequest, code: "kindUnknown", "There is no such authority.", field: "kind",
                rule: "`sandbox` or `production`", remedy: "leave it out for the sandbox's")
        }
        return kind
    }
}

extension Statement {
    enum Certificates {
        static let revoke = Statement.insert(
            "certificates.revoke", into: RegistrySchema.revokedCertificates,
            "ON CONFLICT (serial) DO NOTHING RETURNING serial")

        static let revocation = Statement(
            "certificates.revocation", [.text],
            "SELECT revoked_at FROM revoked_certificates WHERE serial = $1")

        static let revocations = Statement(
            "certificates.revocations", [],
            "SELECT serial, revoked_at FROM revoked_certificates")

        static let all = [revoke, revocation, revocations]
    }
}
