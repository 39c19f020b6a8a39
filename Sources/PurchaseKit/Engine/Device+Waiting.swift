// SPDX-License-Identifier: Apache-2.0

import Commerce

/// How long to wait before a retry: doubled each time up to a limit, with a
/// random part, so that devices do not retry at the same time.
enum Backoff {
    static let firstMilliseconds: Int64 = 500
    static let milliseconds: Int64 = 60_000

    /// Returns between half and the whole of the step for `failures`. `chance`
    /// is 0 to 255.
    static func duration(failures: Int, chance: UInt8) -> Duration {
        let step = min(firstMilliseconds << Int64(min(failures, 20)), milliseconds)
        return .milliseconds(step / 2 + step / 2 * Int64(chance) / 255)
    }
}

extension Device {
    /// Waits before the next attempt. Ends early when a retry may succeed.
    /// Returns at once if that was already so since the failed attempt began:
    /// `wakes` is ``wakeCount`` at that time.
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

    /// Ends all waits, because the app requests something or the store answers
    /// again.
    func wake() {
        wakeCount += 1
        for nap in naps.values { nap.cancel() }
    }
}
