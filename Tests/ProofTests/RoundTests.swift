// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A short round of the proof; `make soak` plays long ones.
@Suite(.unforgiven, .serialized, .timeLimit(.minutes(5))) struct RoundTests {
    private static let seconds = "8"

    @Test func `each rule finds what was spoilt by hand`() async throws {
        let outcome = try await Proof.run("-m", "unittest", "discover", "-t", ".", "-s", "tests")

        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("\nOK"))
    }

    @Test func `whatever happens to a store on SQLite, nothing is lost or doubled`() async throws {
        let report = try await Proof.round(
            "--command", try Proof.program("shopkeeper"), "--seconds", Self.seconds,
            "--seed", "\(Seeds.fresh % 1_000_000)")

        #expect(report.breaches.isEmpty, "\(report.breaches), seed \(report.seed)")
        #expect((report.counts["acknowledged sales"] ?? 0) > 0)
    }

    @Test func `nor to two servers on one PostgreSQL, nor to that`() async throws {
        let report = try await Proof.round(
            "--command", try Proof.program("shopkeeper"), "--engine", "postgres", "--seconds",
            Self.seconds, "--seed", "\(Seeds.fresh % 1_000_000)")

        #expect(report.breaches.isEmpty, "\(report.breaches), seed \(report.seed)")
        #expect((report.counts["acknowledged sales"] ?? 0) > 0)
    }

    /// What is taken away is written in the store's own statements: a flaw that
    /// no longer fits them would sell nothing, and show nothing in `make flaws`.
    @Test(arguments: ["keyless", "lineless", "answersEarly", "unsettled"])
    func `a store broken on purpose sells all the same`(flaw: String) async throws {
        let report = try await Proof.round(
            "--command", Proof.program("FlawedStore"), "--seconds", "0.5", "--seed", "11",
            "--devices", "2", "--acts", "break_connections", "--without-processor",
            "--without-ledger", "--without-approvals", "--plain", "--without-minimums",
            "--serve-option=--flaw",
            "--serve-option=\(flaw)")

        #expect((report.counts["acknowledged sales"] ?? 0) > 0, "\(report.breaches)")
        #expect(report.broken.contains("purchases_exist_once") == (flaw == "keyless"))
    }
}
