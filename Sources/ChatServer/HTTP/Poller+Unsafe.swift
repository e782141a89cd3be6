#if Server
    // Unsafe, because system calls take the addresses of structures; each is on the frame of the
    // call. On Darwin an event carries the id of a connection in the place of an address, which is
    // never followed.
    #if canImport(Darwin)
        internal import Darwin
    #else
        internal import CWslay
        #if canImport(Musl)
            internal import Musl
        #else
            internal import Glibc
        #endif
    #endif

    /// Waits for descriptors: epoll on Linux, kqueue on Darwin.
    final class Poller: Sendable {
        struct Event {
            let id: UInt64
            /// Whether bytes have come, or the peer has closed.
            let isReadable: Bool
            /// Whether nothing can be sent any more; reported without being asked for.
            let hasFailed: Bool
        }

        /// The id of the event that ``wake()`` causes.
        static let wakeID: UInt64 = 0
        private static let eventCount = 256

        private let descriptor: Int32
        /// The eventfd; on Darwin none is needed.
        private let waker: Int32

        /// Creates a poller; nil if the system has no descriptors.
        init?() {
            #if canImport(Darwin)
                (descriptor, waker) = (kqueue(), -1)
                guard descriptor >= 0, change(0, Int16(EVFILT_USER), UInt16(EV_ADD | EV_CLEAR), Self.wakeID) else {
                    return nil
                }
            #else
                (descriptor, waker) = (CPoll_create(), CPoll_makeWaker())
                guard descriptor >= 0, waker >= 0, CPoll_add(descriptor, waker, Self.wakeID, 1, 0) != 0 else {
                    return nil
                }
            #endif
        }

        deinit {
            if descriptor >= 0 { close(descriptor) }
            if waker >= 0 { close(waker) }
        }

        /// Begins to report that a descriptor can be read.
        func add(_ socket: Int32, id: UInt64) -> Bool {
            #if canImport(Darwin)
                change(UInt(socket), Int16(EVFILT_READ), UInt16(EV_ADD), id)
                    && change(UInt(socket), Int16(EVFILT_WRITE), UInt16(EV_ADD | EV_DISABLE), id)
            #else
                CPoll_add(descriptor, socket, id, 1, 0) != 0
            #endif
        }

        /// Changes what is reported of a descriptor that was added.
        func set(_ interest: Interest, _ socket: Int32, id: UInt64) {
            #if canImport(Darwin)
                _ = change(UInt(socket), Int16(EVFILT_READ), UInt16(interest.reads ? EV_ENABLE : EV_DISABLE), id)
                _ = change(UInt(socket), Int16(EVFILT_WRITE), UInt16(interest.writes ? EV_ENABLE : EV_DISABLE), id)
            #else
                _ = CPoll_modify(descriptor, socket, id, interest.reads ? 1 : 0, interest.writes ? 1 : 0)
            #endif
        }

        /// Ends the reports of a descriptor, before it is closed.
        func remove(_ socket: Int32) {
            #if canImport(Darwin)
                _ = change(UInt(socket), Int16(EVFILT_READ), UInt16(EV_DELETE), 0)
                _ = change(UInt(socket), Int16(EVFILT_WRITE), UInt16(EV_DELETE), 0)
            #else
                CPoll_remove(descriptor, socket)
            #endif
        }

        /// Waits for events, at most a time; returns none after a signal.
        func wait(milliseconds: Int32) -> [Event] {
            #if canImport(Darwin)
                var found = unsafe [kevent](repeating: kevent(), count: Self.eventCount)
                var limit = timespec(tv_sec: Int(milliseconds) / 1_000, tv_nsec: Int(milliseconds) % 1_000 * 1_000_000)
                let count = unsafe kevent(descriptor, nil, 0, &found, Int32(Self.eventCount), &limit)
                return unsafe found.prefix(max(0, Int(count))).map { event in
                    let hasFailed = unsafe event.filter == Int16(EVFILT_WRITE) && event.flags & UInt16(EV_EOF) != 0
                    let isReadable = unsafe event.filter == Int16(EVFILT_READ) || hasFailed
                    return unsafe Event(
                        id: UInt64(UInt(bitPattern: event.udata)), isReadable: isReadable, hasFailed: hasFailed)
                }
            #else
                var found = [CPoll_Event](repeating: CPoll_Event(), count: Self.eventCount)
                let count = unsafe CPoll_wait(descriptor, &found, milliseconds)
                let events = found.prefix(max(0, Int(count)))
                if events.contains(where: { $0.id == Self.wakeID }) {
                    var value: UInt64 = 0
                    _ = unsafe read(waker, &value, 8)
                }
                return events.map { Event(id: $0.id, isReadable: $0.isReadable != 0, hasFailed: $0.hasFailed != 0) }
            #endif
        }

        /// Makes ``wait(milliseconds:)`` return.
        func wake() {
            #if canImport(Darwin)
                _ = change(0, Int16(EVFILT_USER), 0, Self.wakeID, UInt32(NOTE_TRIGGER))
            #else
                var one: UInt64 = 1
                // A full counter wakes the thread too.
                _ = unsafe write(waker, &one, 8)
            #endif
        }

        #if canImport(Darwin)
            private func change(
                _ ident: UInt, _ filter: Int16, _ flags: UInt16, _ id: UInt64, _ filterFlags: UInt32 = 0
            ) -> Bool {
                var change = unsafe kevent(
                    ident: ident, filter: filter, flags: flags, fflags: filterFlags, data: 0,
                    udata: UnsafeMutableRawPointer(bitPattern: UInt(id)))
                return unsafe kevent(descriptor, &change, 1, nil, 0, nil) == 0
            }
        #endif
    }

    /// What the poll reports of a connection.
    struct Interest: Equatable {
        var reads: Bool
        var writes: Bool
    }
#endif
