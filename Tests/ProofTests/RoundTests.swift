// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A short round of the proof; `make soak` plays long ones.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RoundTests {
    private static let seconds = "8"

    @Test func `each rule finds what was spoilt by hand`() async throws {
        let outcome = try await Proof.run("-m", "unittest", "discover", "-t", ".", "-s", "tests")

        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("\nOK"))
    }

    @Test func `whatever happens to a store on SQLite, nothing is lost or doubled`() async throws {
        let report = try await Proof.round(
            "--command", Proof.program("shopkeeper"), "--seconds", Self.seconds,
            "--seed", "\(Seeds.fresh % 1_000_000)")

        #expect(report.breaches.isEmpty, "\(report.breaches), seed \(report.seed)")
        #expect((report.counts["acknowledged sales"] ?? 0) > 0)
    }

    @Test func `nor to two servers on one PostgreSQL, nor to that`() async throws {
        let report = try await Proof.round(
            "--command", Proof.program("shopkeeper"), "--engine", "postgres", "--seconds",
            Self.seconds, "--seed", "\(Seeds.fresh % 1_000_000)")

        #expect(report.breaches.isEmpty, "\(report.breaches), seed \(report.seed)")
        #expect((report.counts["acknowledged sales"] ?? 0) > 0)
    }
}
