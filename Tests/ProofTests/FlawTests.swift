// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// What a store promises with is taken away, and the checker sees that it is
/// gone; with it the same round finds nothing.
@Suite(
    .unforgiven,
    .serialized, .timeLimit(.minutes(20)),
    .enabled(
        if: ProcessInfo.processInfo.environment["SHOPKEEPER_FLAWS"] == "1",
        "`make flaws` plays them: they take minutes"))
struct FlawTests {
    /// How a round is played in which a flaw shows.
    enum Stage: String {
        /// Servers killed, and files that may not grow.
        case files
        /// The power cut after a kill, with a disk that forgets what was not synced.
        case power
        /// A database that runs commits side by side.
        case postgres

        var options: [String] {
            switch self {
            case .files:
                [
                    "--acts", "kill_server,bound_files,fill_disk", "--seconds", "5",
                    "--without-approvals",
                ]
            case .power:
                ["--acts", "kill_then_cut_power", "--seconds", "8", "--without-approvals"]
            case .postgres:
                [
                    "--engine", "postgres", "--servers", "1", "--without-standby", "--acts",
                    "break_database_connections", "--seconds", "4",
                ]
            }
        }
    }

    private static let seed = "11"

    private func round(_ stage: Stage, _ flaw: String?) async throws -> Proof.Report {
        let flawed = flaw.map { ["--serve-option=--flaw", "--serve-option=\($0)"] } ?? []
        return try await Proof.round(
            [
                "--command", try Proof.program("FlawedStore"), "--seed", Self.seed,
                "--without-processor", "--without-ledger", "--plain", "--without-minimums",
            ] + stage.options + flawed)
    }

    @Test(arguments: [
        ("keyless", Stage.files, "purchases_exist_once"),
        ("answersEarly", Stage.files, "acknowledged_purchases_are_there"),
        ("unsettled", Stage.power, "acknowledged_purchases_are_there"),
        ("lineless", Stage.postgres, "commits_have_their_own_revision"),
        ("tagUnread", Stage.postgres, "acknowledged_purchases_are_there"),
    ])
    func `a store without it is found out`(
        flaw: String, stage: Stage, rule: String
    ) async throws {
        let report = try await round(stage, flaw)
        #expect(report.broken.contains(rule), "\(flaw): \(report.broken)")
        // A store that sells nothing has no flaw to show.
        #expect((report.counts["acknowledged sales"] ?? 0) > 0)
    }

    /// The real store, with triggers in its database that do wrong behind its back.
    @Test(arguments: [
        ("empty-receipts", "receipts_hold_what_is_owned"),
        ("never-captured", "sales_are_captured"),
        ("revoked-and-sold-again", "non_consumables_are_paid_once"),
        ("wrong-currency", "sums_are_right"), ("wrong-storefront", "sums_are_right"),
        ("wrong-sum", "sums_are_right"),
        ("another-app-in-the-outbox", "notifications_are_attempted"),
        ("never-notified", "notifications_are_attempted"),
        ("purchases-forgotten", "revisions_have_no_gaps"),
        ("voids-forgotten", "charges_and_transactions_pair"),
        ("work-left-for-nothing", "nothing_is_left_over"),
        ("renewals-charged-twice", "periods_are_charged_once"),
        ("refunds-forgotten", "money_adds_up"), ("reversals-forgotten", "money_adds_up"),
        ("renewals-unannounced", "events_are_announced_once"),
        ("entitlements-that-outlive", "entitlements_end_with_what_was_paid"),
        ("renewals-not-stopped", "renewals_stop_when_switched_off"),
        ("steps-forgotten", "jumps_leave_nothing_due"),
        ("upgrades-that-give-too-much", "upgrades_refund_once"),
        ("grants-doubled", "grants_are_those_of_the_products"),
        ("revocations-forgotten", "ledger_holds_what_was_proven"),
        ("subscriptions-for-ever", "entitlements_are_what_was_proven"),
        ("spendings-forgotten", "spendings_are_done_once"),
        ("refunds-without-entries", "credits_add_up"),
        ("releases-forgotten", "reservations_end_one_way"),
        ("moves-without-entries", "moves_take_what_they_give"),
        ("moves-forgotten", "purchases_are_where_they_were_sent"),
        ("merges-that-leave-grants", "merged_accounts_are_empty"),
        ("erasures-that-remember", "erased_accounts_are_gone"),
        ("notifications-not-erased", "news_of_the_erased_is_deleted"),
        ("webhooks-forgotten", "events_are_reported_once"),
        ("webhooks-not-sent", "webhooks_arrive"),
        ("webhooks-without-numbers", "webhooks_keep_their_order"),
        ("webhooks-of-other-contents", "webhooks_tell_what_was_written"),
        ("everything-refused", "enough_happened"),
    ])
    func `a store with triggers that do wrong is found out`(
        sabotage: String, rule: String
    ) async throws {
        let report = try await Proof.round([
            "--command", try Proof.program("shopkeeper"), "--seed", Self.seed, "--seconds", "3",
            "--acts", "break_connections", "--sabotage", sabotage,
        ])
        #expect(report.broken.contains(rule), "\(sabotage): \(report.broken)")
    }

    /// The real store, or the real ledger, whose commits are not synced.
    @Test(arguments: [
        ("log-not-synced", "acknowledged_purchases_are_there"),
        ("ledger-log-not-synced", "purchases_are_redeemed_once"),
    ])
    func `commits that are not synced are found out once the power is cut`(
        sabotage: String, rule: String
    ) async throws {
        let report = try await Proof.round([
            "--command", try Proof.program("shopkeeper"), "--seed", Self.seed, "--seconds", "5",
            "--acts", "cut_power,cut_power_of_ledger", "--sabotage", sabotage,
        ])
        #expect(report.broken.contains(rule), "\(sabotage): \(report.broken)")
    }

    /// COMMIT's tag says it: nobody is told of what the server rolled back.
    @Test func `a store that loses statements' errors loses no purchase`() async throws {
        let report = try await round(.postgres, "errorsLost")
        #expect(report.breaches.isEmpty, "\(report.breaches)")
        #expect((report.counts["acknowledged sales"] ?? 0) > 0)
    }

    @Test(arguments: [Stage.files, .power, .postgres])
    func `a store with all of it is not`(stage: Stage) async throws {
        let report = try await round(stage, nil)
        #expect(report.breaches.isEmpty, "\(stage): \(report.breaches)")
    }
}
