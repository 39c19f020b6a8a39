// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Reads lines from the terminal, and leaves it to the payment sheet, which may appear at
/// any time: the player chooses in the store while the menu waits for a line.
final class Keyboard {
    private let lock = NSLock()
    private var isListening = false
    private var isWatching = false
    private let onLine: (String?) -> Void

    /// `onLine` is called on the main thread, with nil at the end of the input.
    init(onLine: @escaping (String?) -> Void) {
        self.onLine = onLine
        // What has arrived is then seen by `poll`.
        setvbuf(stdin, nil, _IONBF, 0)
    }

    /// Asks for one line.
    func listen() {
        let begins = lock.withLock { () -> Bool in
            defer { isWatching = true }
            isListening = true
            return !isWatching
        }
        // On another thread, because the main thread must be free for callbacks.
        if begins { DispatchQueue.global().async { self.watch() } }
    }

    /// Reads nothing until the next `listen`.
    func leave() { lock.withLock { isListening = false } }

    /// Waits without reading, so that a line that was not asked for stays.
    private func watch() {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while poll(&input, 1, -1) < 0, errno == EINTR {}
        let reads = lock.withLock { () -> Bool in
            defer { (isListening, isWatching) = (false, false) }
            return isListening
        }
        guard reads else { return }
        let line = readLine()
        DispatchQueue.main.async { self.onLine(line) }
    }
}
