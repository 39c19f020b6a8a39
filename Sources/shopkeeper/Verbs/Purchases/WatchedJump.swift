// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import StoreWire
import Synchronization

/// A jump of a clock that may take long: it is reported how far its work has come,
/// and the first Ctrl-C stops it between two pieces of work.
struct WatchedJump: Sendable {
    let door: DoorClient
    /// The clock's address.
    let path: String

    private enum Event {
        case ended(ClockDescription)
        /// The store has answered the request to stop. False if there was no jump
        /// any more.
        case stopAnswered(Bool)
        case nothing
    }

    /// Returns the clock, and whether the jump was stopped.
    func run(_ request: MoveClockRequest) async throws -> (ClockDescription, isStopped: Bool) {
        let interrupts = Interrupts()
        defer { interrupts.end() }
        return try await withThrowingTaskGroup(of: Event.self) { group in
            group.addTask {
                .ended(try await door.post(path, request, as: ClockDescription.self))
            }
            group.addTask {
                await report()
                return .nothing
            }
            group.addTask {
                for await _ in interrupts.stream {
                    interrupts.isObeyed.withLock { $0 = true }
                    return .stopAnswered(await stop())
                }
                return .nothing
            }
            defer { group.cancelAll() }
            // A jump that is stopped may end before the request to stop it.
            var (clock, isStopped) = (ClockDescription?.none, Bool?.none)
            while let event = try await group.next() {
                switch event {
                case .ended(let last): clock = last
                case .stopAnswered(let answer): isStopped = answer
                case .nothing: continue
                }
                let waits = interrupts.isObeyed.withLock { $0 }
                if let clock, isStopped != nil || !waits { return (clock, isStopped ?? false) }
            }
            throw Failure(.bug, "bug", "A jump ended without an answer.")
        }
    }

    /// Prints a line a second while the work goes on.
    private func report() async {
        while (try? await Live.sleep(.seconds(1))) != nil {
            guard let clock = try? await door.get(path, as: ClockDescription.self),
                let jump = clock.jump
            else { continue }
            Output.complain("done up to \(jump.reached), on the way to \(jump.target)")
        }
    }

    /// Returns false if there is no jump any more.
    private func stop() async -> Bool {
        let request = MoveClockRequest(stopsJump: true)
        return (try? await door.post(path, request, as: ClockDescription.self)) != nil
    }
}

/// Receives Ctrl-C until it is ended. After the first one, the next ends the
/// process. Holds its source as long as it lives.
private final class Interrupts: Sendable {
    let stream: AsyncStream<Void>
    /// Whether the store is being asked to stop the jump.
    let isObeyed = Mutex(false)
    private let heard: AsyncStream<Void>.Continuation
    /// Set once and not changed afterwards.
    nonisolated(unsafe) private let source: any DispatchSourceSignal

    init() {
        (stream, heard) = AsyncStream.makeStream(of: Void.self)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        signal(SIGINT, SIG_IGN)
        source.setEventHandler { [heard] in
            signal(SIGINT, SIG_DFL)
            heard.yield()
        }
        source.resume()
    }

    func end() {
        source.cancel()
        signal(SIGINT, SIG_DFL)
        heard.finish()
    }
}
