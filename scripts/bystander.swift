// A library that knows nothing of this package: it merely asks whether there
// is a StoreKit, as code for Apple's platforms does.
#if canImport(StoreKit)
    import StoreKit

    public let seesStoreKit = true
#else
    public let seesStoreKit = false
#endif
