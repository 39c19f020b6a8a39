// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import SignedData

/// `verify`: shows the contents of signed data, and whether it is valid.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Explain and verify a signed transaction, notification or receipt.",
        discussion: """
            Reads a JWS, a notification's body or a receipt (DER or Base64). Exits with 0 if no \
            rule is broken, with 1 if one is, and with 65 if the input is none of these.
            """)

    @Argument(help: "The file to verify; - for standard input.")
    var file: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The root to trust: store (the running one), apple (roots with the fingerprints "
                + "that Apple publishes), or a file with a root certificate.",
            valueName: "store|apple|FILE"))
    var root = "store"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The present: data signed after this instant is signed in the future.",
            valueName: "2026-11-21T04:27:06Z"))
    var at: String?

    @Flag(
        name: .long,
        help: "Ask at the certificates' status address whether they were revoked.")
    var online = false

    @Flag(name: .long, help: "Print only the signed content, as JSON with sorted keys.")
    var payloadOnly = false

    @OptionGroup var print: PrintOptions
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if let at, Timestamp(iso8601: at) == nil {
            throw ValidationError("--at must be an instant such as 2026-11-21T04:27:06Z.")
        }
    }

    func run() async throws {
        let input = try SignedInput(file)
        let trusted = try await roots()
        let explanation = input.explain(
            roots: trusted, now: at.flatMap { Timestamp(iso8601: $0) })
        // Only addresses that a trusted root has signed are called.
        let status =
            online && explanation.isValid && explanation.certificates.count == 3
            ? await LiveStatus.check().verdict(of: explanation.certificates) : nil
        let report = VerificationReport(explanation, isOnline: online, status: status)
        if payloadOnly {
            guard let payload = report.payload else {
                throw Failure(
                    .input, "unreadable", "There is no payload that can be read.", field: "FILE",
                    rule: "a JWS with a JSON payload, or a receipt")
            }
            try Output.answer(json: payload)
        } else {
            try print.show(report, lines: report.lines)
        }
        if !report.isValid { throw ExitCode(ExitStatus.no.rawValue) }
    }

    /// Returns the function that chooses the trusted roots for certificates.
    private func roots() async throws -> @Sendable ([[UInt8]]) -> [[UInt8]] {
        if root == "apple" {
            return { chain in
                chain.suffix(1).filter { der in
                    CertificateFacts.appleRoots[CertificateAuthority.fingerprint(of: der)] != nil
                }
            }
        }
        let roots =
            root == "store"
            ? try await Verifying.roots(of: store) : [try Verifying.root(root)]
        return { _ in roots }
    }
}
