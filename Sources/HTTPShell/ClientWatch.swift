// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// Whether the client of a connection has gone away. A class, because the
/// connection and its requests share it.
final class Client: Sendable {
    private struct State {
        var isGone = false
        var onGone: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var isGone: Bool { state.withLock(\.isGone) }

    /// Sets what is called when the client goes away. It is called at once if
    /// the client has gone already.
    func onGone(_ action: (@Sendable () -> Void)?) {
        let isGone = state.withLock { state in
            state.onGone = action
            return state.isGone
        }
        if isGone { action?() }
    }

    func goes() {
        let action = state.withLock { state in
            state.isGone = true
            return state.onGone.take()
        }
        action?()
    }
}

/// Notices that the client of a connection has closed it, or has closed its
/// side of it: no request can arrive any more, and nobody is expected to read
/// an answer. It costs a waiting request less than reading on in a task. A
/// class, because channel handlers are classes.
final class ClientWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    let client = Client()

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { client.goes() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        client.goes()
        context.fireChannelInactive()
    }
}
