// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// The machine's time, as a test moves it. A class, because ledgers share it.
final class MovedClock: Sendable {
    private let time = Mutex(Book.now)

    var wall: WallClock { WallClock { self.time.withLock { $0 } } }

    func move(seconds: Int64) {
        time.withLock { $0 = $0.adding(seconds: seconds) }
    }
}
