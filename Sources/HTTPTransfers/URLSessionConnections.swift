#if canImport(Darwin)
    internal import Foundation
    internal import Locking

    /// The connections of a client, by `URLSession`; they end with it.
    final class Connections: Sendable {
        private let delegate = SessionDelegate()
        /// Retains the delegate until it is invalidated.
        private let session: URLSession
        private let isStopped = Lock(false)

        init() {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = nil
            configuration.httpCookieAcceptPolicy = .never
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.httpMaximumConnectionsPerHost = 64
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }

        deinit { stop() }

        func stop() {
            isStopped.withLock { isStopped in
                guard !isStopped else { return }
                isStopped = true
                session.invalidateAndCancel()
            }
        }

        /// Starts a transfer.
        func start(_ request: TransferRequest, silence: Duration, _ receiver: Receiver) throws(TransferFailure) {
            var made = URLRequest(
                url: request.url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: silence / .seconds(1))
            made.httpMethod = request.method
            made.httpShouldHandleCookies = false
            made.httpBody = request.body
            for (name, value) in request.headers { made.setValue(value, forHTTPHeaderField: name) }
            if !receiver.decompresses { made.setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
            // A session that is invalidated makes no tasks.
            try isStopped.withLock { isStopped throws(TransferFailure) in
                guard !isStopped else { throw .cancelled }
                let task = session.dataTask(with: made)
                delegate.add(receiver, for: task)
                receiver.setControl(TaskControl(task: task, delegate: delegate))
                task.resume()
            }
        }
    }

    private struct TaskControl: TransferControl {
        let task: URLSessionDataTask
        let delegate: SessionDelegate

        func resume() { task.resume() }

        func cancel() {
            delegate.remove(task)
            task.cancel()
        }
    }

    /// Passes what a session receives to the receivers of its tasks.
    private final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
        private let receivers = Lock([Int: Receiver]())

        func add(_ receiver: Receiver, for task: URLSessionTask) {
            receivers.withLock { $0[task.taskIdentifier] = receiver }
        }

        func remove(_ task: URLSessionTask) { receivers.withLock { _ = $0.removeValue(forKey: task.taskIdentifier) } }

        private func receiver(of task: URLSessionTask) -> Receiver? { receivers.withLock { $0[task.taskIdentifier] } }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            let isWanted =
                (response as? HTTPURLResponse).map { receiver(of: dataTask)?.receive(TransferHead($0)) == true }
                ?? false
            completionHandler(isWanted ? .allow : .cancel)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            guard let receiver = receiver(of: dataTask), receiver.receive(data) else { return dataTask.cancel() }
            _ = receiver.hasRoom { dataTask.suspend() }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let receiver = receivers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            receiver?.end(error.map(TransferFailure.init))
        }

        /// The redirect is the answer: the token goes to no other server.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) { completionHandler(nil) }
    }

    extension TransferHead {
        fileprivate init(_ response: HTTPURLResponse) {
            self.init(status: response.statusCode, headers: [:])
            for (name, value) in response.allHeaderFields {
                if let name = name as? String, let value = value as? String { headers[name.lowercased()] = value }
            }
        }
    }

    extension TransferFailure {
        /// The failure of a task.
        fileprivate init(_ error: any Error) {
            let code = (error as? URLError)?.code
            self =
                switch code {
                case .cancelled: .cancelled
                case .timedOut: .unreachable("The server does not answer.")
                case .cannotFindHost, .dnsLookupFailed: .unreachable("The name of the server is not known.")
                case .cannotConnectToHost: .unreachable("There is no connection to the server.")
                case .notConnectedToInternet, .dataNotAllowed: .unreachable("This device has no connection.")
                case .networkConnectionLost: .unreachable("The connection to the server has ended.")
                case .secureConnectionFailed: .unreachable("There is no secure connection to the server.")
                case .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
                    .serverCertificateNotYetValid:
                    .unreachable("The certificate of the server is not valid.")
                case let code?: .unreachable("The request has failed (URLError \(code.rawValue)).")
                case nil: .unreachable("The request has failed.")
                }
        }
    }
#endif
