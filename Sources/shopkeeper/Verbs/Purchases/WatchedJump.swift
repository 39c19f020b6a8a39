// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import StoreWire

/// A jump of a clock that may take long: it is reported how far its work has come,
/// and the first Ctrl-C stops it between two pieces of work.
struct WatchedJump: Sendable {
    let door: DoorClient

    private enum Event {
        case ended(ClockDescription)
        case stopped
        case nothing
    }

    /// Returns the clock, and whether the jump was stopped.
    func run(_ request: MoveClockRequest) async throws -> (ClockDescription, isStopped: Bool) {
        let interrupts = Interrupts()
        defer { interrupts.end() }
        return try await withThrowingTaskGroup(of: Event.self) { group in
            group.addTask {
                .ended(try await door.post("/clock", request, as: ClockDescription.self))
            }
            group.addTask {
                await report()
                return .nothing
            }
            group.addTask {
                for await _ in interrupts.stream { return await stop() ? .stopped : .nothing }
                return .nothing
            }
            defer { group.cancelAll() }
            var isStopped = false
            while let event = try await group.next() {
                switch event {
                case .ended(let clock): return (clock, isStopped)
                case .stopped: isStopped = true
                case .nothing: continue
                }
            }
            throw Failure(.bug, "bug", "A jump ended without an answer.")
        }
    }

    /// Prints a line a second while the work goes on.
    private func report() async {
        while (try? await Live.sleep(.seconds(1))) != nil {
            guard let clock = try? await door.get("/clock", as: ClockDescription.self),
                let jump = clock.jump
            else { continue }
            Output.complain("done up to \(jump.reached), on the way to \(jump.target)")
        }
    }

    /// Returns false if there is no jump any more.
    private func stop() async -> Bool {
        let request = MoveClockRequest(stopsJump: true)
        return (try? await door.post("/clock", request, as: ClockDescription.self)) != nil
    }
}

/// Receives Ctrl-C until it is ended. After the first one, the next ends the
/// process. Holds its source as long as it lives.
private final class Interrupts: Sendable {
    let stream: AsyncStream<Void>
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
