// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Live
import Shop

struct DatabaseAdvanceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advance",
        abstract: "Make databases that were set back safe to serve again.",
        discussion: """
            For databases that came from a disk's snapshot, PostgreSQL's own archive or a standby \
            that lacked the last commits; `restore` does it by itself. Numbers go on beyond all \
            that may have been given out since, and devices sign in again and read anew. Stop \
            every server first. Doing it without need does no harm.
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
                + "and read anew."
        ]
        if summary.namesFound + summary.namesFreed > 0 {
            lines.append(
                "Names of customers: \(summary.namesFound) found again, "
                    + "\(summary.namesFreed) freed whose customers are lost.")
        }
        try printing.show(summary, lines: lines)
    }
}
