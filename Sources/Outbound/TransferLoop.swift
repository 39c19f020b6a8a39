// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

@_implementationOnly import CCurl

/// The work of a client's thread: it starts, drives and ends transfers.
///
/// `@unchecked`: only the loop's thread uses the multi handle. The exception is
/// waking it, which curl allows from any thread, and which happens under the
/// lock while the handle exists.
final class TransferLoop: @unchecked Sendable {
    private enum Order {
        case start(Transfer)
        case cancel(UInt64)
    }

    private struct Inbox {
        var orders: [Order] = []
        var isClosed = false
        /// Whether the handle was freed.
        var isOver = false
    }

    /// The longest sleep. The loop is woken earlier when there is something to
    /// do.
    private static let sleepMilliseconds: Int32 = 60_000
    /// How many connections are kept open for later calls.
    private static let connectionsKept = 64

    private static let isReady: Bool = ccurl_init() == CURLE_OK
    private let multi: UnsafeMutableRawPointer?
    private let inbox = Mutex(Inbox())
    private let ended = DispatchGroup()
    /// Used only by the loop's thread.
    private var running: [UInt64: Transfer] = [:]

    init() {
        multi = Self.isReady ? curl_multi_init() : nil
        ended.enter()
    }

    func start(_ transfer: Transfer) {
        let isTaken = inbox.withLock { inbox in
            guard !inbox.isClosed else { return false }
            inbox.orders.append(.start(transfer))
            wake()
            return true
        }
        if !isTaken { transfer.fail(OutboundFault(.closed, "the client is closed")) }
    }

    func cancel(_ number: UInt64) {
        inbox.withLock { inbox in
            guard !inbox.isClosed else { return }
            inbox.orders.append(.cancel(number))
            wake()
        }
    }

    func close() {
        inbox.withLock { inbox in
            inbox.isClosed = true
            if !inbox.isOver { wake() }
        }
    }

    /// Waits until the thread has ended, for at most the given time.
    func waitForEnd(milliseconds: Int) {
        _ = ended.wait(timeout: .now() + .milliseconds(milliseconds))
    }

    /// Must be called with the inbox's lock held.
    private func wake() {
        if let multi { curl_multi_wakeup(multi) }
    }

    /// The body of the thread.
    func run() {
        Self.blockBrokenPipes()
        guard let multi else { return end() }
        ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.connectionsKept)
        while true {
            let (orders, isClosed) = inbox.withLock { inbox in
                defer { inbox.orders = [] }
                return (inbox.orders, inbox.isClosed)
            }
            for order in orders { obey(order, multi) }
            if isClosed { break }
            var count: Int32 = 0
            curl_multi_perform(multi, &count)
            finishEnded(multi)
            if curl_multi_poll(multi, nil, 0, Self.sleepMilliseconds, nil) != CURLM_OK { break }
        }
        end()
    }

    /// Blocks SIGPIPE, so that a peer that hangs up during a write causes an
    /// error and does not end the process. curl leaves this to the owner of the
    /// thread.
    private static func blockBrokenPipes() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private func obey(_ order: Order, _ multi: UnsafeMutableRawPointer) {
        switch order {
        case .start(let transfer):
            guard let easy = transfer.prepare(),
                curl_multi_add_handle(multi, easy) == CURLM_OK
            else { return transfer.fail(OutboundFault(.other, "the call cannot be started")) }
            running[transfer.number] = transfer
        case .cancel(let number):
            guard let transfer = running.removeValue(forKey: number) else { return }
            transfer.fail(transfer.fault(.cancelled, "the caller gave up"), leaving: multi)
        }
    }

    private func finishEnded(_ multi: UnsafeMutableRawPointer) {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left)?.pointee {
            guard message.msg == CURLMSG_DONE, let easy = message.easy_handle,
                let transfer = running.values.first(where: { $0.has(easy) })
            else { continue }
            running[transfer.number] = nil
            transfer.finish(message.data.result, leaving: multi)
        }
    }

    private func end() {
        let left = inbox.withLock { inbox in
            inbox.isClosed = true
            inbox.isOver = true
            defer { inbox.orders = [] }
            return inbox.orders
        }
        let closed = OutboundFault(.closed, "the client is closed", mayHaveBeenSent: true)
        for transfer in running.values { transfer.fail(closed, leaving: multi) }
        running = [:]
        for case .start(let transfer) in left {
            transfer.fail(OutboundFault(.closed, "the client is closed"))
        }
        if let multi { curl_multi_cleanup(multi) }
        ended.leave()
    }
}
