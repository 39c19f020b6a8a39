// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The most seconds that a verb waits.
struct TimeLimit: ExpressibleByArgument, CustomStringConvertible {
    private static let secondsMax = 1_000_000.0

    private let seconds: Double

    init(_ seconds: Double) { self.seconds = seconds }

    init?(argument: String) {
        guard let seconds = Double(argument), (0...Self.secondsMax).contains(seconds) else {
            return nil
        }
        self.init(seconds)
    }

    var duration: Duration { .seconds(seconds) }
    var description: String { "\(seconds)" }
    var defaultValueDescription: String { description }
}
