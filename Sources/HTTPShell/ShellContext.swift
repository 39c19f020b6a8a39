// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Logging
import NIOCore

/// What a connection reveals about its client.
struct ShellContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let peer: String?
    let port: Int?
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = source.channel.remoteAddress?.ipAddress
        port = source.channel.localAddress?.port
        channel = source.channel
    }
}

extension Approach {
    init(_ request: Request, _ context: ShellContext, _ proxies: TrustedProxies?) {
        self.init(
            peer: context.peer.flatMap(ClientAddress.init), port: context.port,
            authority: request.head.authority, proxies: proxies
        ) { name in
            guard let name = HTTPFields.Element.Name(name) else { return nil }
            let values = request.headers[values: name]
            return values.isEmpty ? nil : values.joined(separator: ",")
        }
        // The first `Host` line became the request's authority.
        let more = HTTPFields.Element.Name("Host").map { request.headers[values: $0].count } ?? 0
        hostCount = (request.head.authority == nil ? 0 : 1) + more
    }
}
