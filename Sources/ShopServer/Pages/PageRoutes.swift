// SPDX-License-Identifier: Apache-2.0

import HTTPShell

typealias PageRoute = ServerRoute<PageAccess, PageVisit>

/// The visitors that may see a page.
enum PageAccess: Hashable, Sendable {
    case everyone
    /// Customers who are signed in with a browser. Others are asked to sign in.
    case customer
}

/// The addresses of the store's pages.
enum PageRoutes {
    static let table = RouteTable<PageAccess, PageVisit>([
        PageRoute("GET", "/", .everyone) { try await ShopPages($0).today() },
        PageRoute("GET", "/store", .everyone) { $0.redirect("/") },
        PageRoute("GET", "/store/search", .everyone) { try await ShopPages($0).search() },
        PageRoute("GET", "/store/apps/{}", .everyone) { try await ShopPages($0).app() },
        PageRoute("GET", "/store/apps/{}/images/{}", .everyone) {
            try await ShopPages($0).image()
        },
        PageRoute("GET", "/store/apps/{}/promotions/{}", .everyone) {
            try await ShopPages($0).promotionImage()
        },
        PageRoute("POST", "/store/apps/{}/choices/{}", .customer) {
            try await AccountPages($0).choose()
        },
        PageRoute("GET", "/store/choices/{}", .customer) { try await AccountPages($0).choice() },
        PageRoute("GET", "/store/storefront", .everyone) { try ShopPages($0).chooseStorefront() },
        PageRoute("GET", "/store/style.css", .everyone) { _ in ShopPages.style },
        PageRoute("GET", "/store/sign-in", .everyone) { try SignInPages($0).form() },
        PageRoute("POST", "/store/sign-in", .everyone) { try await SignInPages($0).signIn() },
        PageRoute("POST", "/store/sign-out", .customer) { try await SignInPages($0).signOut() },
        PageRoute("GET", "/store/account", .customer) { try await AccountPages($0).account() },
        PageRoute("POST", "/store/subscriptions/{}/renewal", .customer) {
            try await AccountPages($0).switchRenewal()
        },
        PageRoute("POST", "/store/subscriptions/{}/product", .customer) {
            try await AccountPages($0).chooseProduct()
        },
        PageRoute("POST", "/store/transactions/{}/refund", .customer) {
            try await AccountPages($0).requestRefund()
        },
        PageRoute("POST", "/store/reviews/requests", .customer) {
            try await AccountPages($0).switchReviewRequests()
        },
        PageRoute("POST", "/store/approvals/{}/{}", .customer) {
            try await AccountPages($0).answerApproval()
        },
    ])
}
