// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Replaces the `Host` line of a request by the host of an absolute address,
/// such as `GET http://store.example/ready` (RFC 9112, 3.2.2). The library below
/// keeps the line only, so that the check of names would not see the other host.
/// Requests without exactly one line stay as they are, and are refused. So is an
/// address of another protocol, such as `ftp://store.example/`: the library keeps
/// its path only. A class, because channel handlers are.
final class AbsoluteTarget: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// No text of a host, so that the check of names refuses the request.
    private static let noHost = "?"

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = Self.unwrapInboundIn(data),
            !RequestTarget.isPath(head.uri),
            head.headers[canonicalForm: "Host"].count == 1
        else { return context.fireChannelRead(data) }
        let authority = RequestTarget.authority(of: head.uri)
        head.headers.replaceOrAdd(name: "Host", value: authority ?? Self.noHost)
        context.fireChannelRead(Self.wrapInboundOut(.head(head)))
    }
}
