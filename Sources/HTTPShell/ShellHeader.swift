// SPDX-License-Identifier: Apache-2.0

import Hummingbird

/// The headers that the shell reads itself.
enum ShellHeader: String, CaseIterable {
    case requestID = "X-Request-Id"
    case host = "Host"
    case origin = "Origin"
    case forwardedFor = "X-Forwarded-For"
    case forwardedProto = "X-Forwarded-Proto"
    case forwardedHost = "X-Forwarded-Host"

    /// The name, which is checked and put in lower case once, not for each request.
    var field: HTTPFields.Element.Name {
        switch self {
        case .requestID: Self.requestIDField
        case .host: Self.hostField
        case .origin: Self.originField
        case .forwardedFor: Self.forwardedForField
        case .forwardedProto: Self.forwardedProtoField
        case .forwardedHost: Self.forwardedHostField
        }
    }

    private static let requestIDField = made(.requestID)
    private static let hostField = made(.host)
    private static let originField = made(.origin)
    private static let forwardedForField = made(.forwardedFor)
    private static let forwardedProtoField = made(.forwardedProto)
    private static let forwardedHostField = made(.forwardedHost)

    private static func made(_ header: ShellHeader) -> HTTPFields.Element.Name {
        guard let name = HTTPFields.Element.Name(header.rawValue) else {
            preconditionFailure("\(header.rawValue) is no name of a header")
        }
        return name
    }
}
