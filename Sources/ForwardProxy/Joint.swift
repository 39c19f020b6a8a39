// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Joins two connections on one event loop: what arrives at one is written to
/// the other. One that cannot be written to holds the reading of the other, so
/// that no more than a socket's buffer is kept. A class, because channel
/// handlers are; the two refer to each other until one is removed.
final class Joint: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny
    typealias OutboundOut = NIOAny

    private var partner: Joint?
    private var context: ChannelHandlerContext?
    private var isReadHeld = false

    /// Joins two handlers that are in their pipelines.
    func join(_ other: Joint) {
        (partner, other.partner) = (other, self)
        readOn()
        other.readOn()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { part() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        partner?.context?.write(data, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        partner?.context?.flush()
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        part()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed {
            partner?.context?.close(mode: .output, promise: nil)
        } else if event is IdleStateHandler.IdleStateEvent {
            context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { partner?.readOn() }
        context.fireChannelWritabilityChanged()
    }

    func read(context: ChannelHandlerContext) {
        if partner?.context?.channel.isWritable == true {
            context.read()
        } else {
            isReadHeld = true
        }
    }

    private func readOn() {
        guard isReadHeld else { return }
        isReadHeld = false
        context?.read()
    }

    /// Closes the other connection, because this one has ended.
    private func part() {
        let other = partner
        (partner, context) = (nil, nil)
        other?.partner = nil
        other?.context?.close(promise: nil)
    }
}
