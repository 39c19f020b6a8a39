// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Ratios from interleaved pairs: seconds are noise, a ratio of two things
/// done in turn in one run is not.
struct Pairs {
    let name: String
    /// What the median must at least be; nil where nothing is asked.
    let atLeast: Double?
    private(set) var ratios: [Double] = []
    /// Seconds that ours took, each time.
    private(set) var seconds: [Double] = []
    /// How many operations one of ours did, for telling how long one takes.
    var perOperation: Int?

    /// The spread past which a figure counts as not met, whatever its median.
    static let spreadMax = 1.5
    static let pairsMin = 7

    init(_ name: String, atLeast: Double?) {
        self.name = name
        self.atLeast = atLeast
    }

    /// Adds a pair: how long the bare thing took, and ours.
    mutating func add(bare: Double, ours: Double) {
        ratios.append(bare / ours)
        seconds.append(ours)
    }

    var median: Double { ratios.sorted()[ratios.count / 2] }
    var spread: Double { (ratios.max() ?? 0) / max(ratios.min() ?? 1, .leastNonzeroMagnitude) }

    /// Whether the figure holds; true where nothing is asked.
    var isMet: Bool {
        guard let atLeast else { return true }
        return ratios.count >= Self.pairsMin && median >= atLeast && spread <= Self.spreadMax
    }

    var line: String {
        let asked = atLeast.map { String(format: "at least %.2f", $0) } ?? "for comparison"
        let verdict = atLeast == nil ? "" : isMet ? "met" : "NOT MET"
        return String(format: "%7.3f  spread %.2f  n %d  ", median, spread, ratios.count)
            + asked.padding(toLength: 16, withPad: " ", startingAt: 0)
            + verdict.padding(toLength: 9, withPad: " ", startingAt: 0) + name + each
    }

    private var each: String {
        guard let perOperation else { return "" }
        let median = seconds.sorted()[seconds.count / 2] / Double(perOperation)
        return String(format: " (%.0f µs each)", median * 1e6)
    }
}

/// Seconds that `body` takes.
func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start).inSeconds
}

func secondsAwaited(_ body: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start).inSeconds
}

extension Duration {
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}

/// Says what is going on, on standard error: figures alone go to standard output.
func progress(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
}
