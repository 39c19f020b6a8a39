// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Logging
import NIOCore

/// What a connection reveals about its client.
struct ShellContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let peer: ClientAddress?
    let port: Int?
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = ClientAddress(source.channel.remoteAddress)
        port = source.channel.localAddress?.port
        channel = source.channel
    }
}

extension Approach {
    init(_ request: Request, _ context: ShellContext, _ proxies: TrustedProxies?) {
        self.init(
            peer: context.peer, port: context.port, authority: request.head.authority,
            proxies: proxies
        ) { header in
            let values = request.headers[values: header.field]
            return values.count > 1 ? values.joined(separator: ",") : values.first
        }
        // The first `Host` line became the request's authority.
        hostCount =
            (request.head.authority == nil ? 0 : 1)
            + request.headers[values: ShellHeader.host.field].count
    }
}
