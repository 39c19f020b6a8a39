// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Live
import Shop

struct DatabaseAdvanceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advance",
        abstract: "Make a store whose databases were set back safe to serve.",
        discussion: """
            For databases from a disk snapshot, from PostgreSQL's own archive, or from a standby \
            that lacked the last commits; `restore` needs no advance. Numbers continue above all \
            that may have been assigned since, and devices sign in again and read everything \
            anew. Stop every server first. An unnecessary run does no harm.
            """)

    @OptionGroup var place: DatabaseOptions
    @OptionGroup var clusters: ClusterOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let place = try place.place(clusters: clusters.cluster)
        let summary = try await place.goingOver {
            try await StoreAdvance.run(
                $0, wall: Live.wallClock.now, randomness: Live.randomness)
        }
        var lines = [
            "The store at \(place.words) goes on (\(summary.realms.joined(separator: ", "))): "
                + "numbers from the count \(summary.numbersFrom) on, devices sign in again "
                + "and read everything again."
        ]
        if summary.namesFound + summary.namesFreed > 0 {
            lines.append(
                "Names of customers: \(summary.namesFound) found again, "
                    + "\(summary.namesFreed) freed whose customers are lost.")
        }
        try printing.show(summary, lines: lines)
    }
}
