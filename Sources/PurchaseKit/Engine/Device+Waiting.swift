// SPDX-License-Identifier: Apache-2.0

import Commerce

/// How long to wait before asking again: doubled each time up to a limit,
/// and spread, so that devices do not ask in step.
enum Backoff {
    static let firstMilliseconds: Int64 = 500
    static let milliseconds: Int64 = 60_000

    /// Between half and the whole of the step that `failures` has reached.
    /// `chance` is 0 to 255.
    static func duration(failures: Int, chance: UInt8) -> Duration {
        let step = min(firstMilliseconds << Int64(min(failures, 20)), milliseconds)
        return .milliseconds(step / 2 + step / 2 * Int64(chance) / 255)
    }
}

extension Device {
    /// Waits before the next try; ends early when something gives hope, and
    /// at once when that came after the try began that failed: `wakes` is
    /// ``wakeCount`` as it was then.
    func nap(_ failures: Int, since wakes: Int) async {
        guard wakeCount == wakes else { return }
        let chance = ports.randomness.bytes(1).first ?? 0
        let duration = Backoff.duration(failures: failures, chance: chance)
        napCount += 1
        let id = napCount
        let sleep = ports.sleep
        let nap = Task { _ = try? await sleep(duration) }
        naps[id] = nap
        await withTaskCancellationHandler {
            await nap.value
        } onCancel: {
            nap.cancel()
        }
        naps[id] = nil
    }

    /// The app wants something, or the store answers again: try now.
    func wake() {
        wakeCount += 1
        for nap in naps.values { nap.cancel() }
    }
}
