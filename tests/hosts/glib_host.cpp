// SPDX-License-Identifier: Apache-2.0
#include "hosts/foreign_host.hpp"

#include <utility>

#include <glib-unix.h>
#include <glib.h>

namespace eddy::test {
namespace {

class glib_host final : public foreign_host {
public:
    glib_host() : context_(g_main_context_new()), loop_(g_main_loop_new(context_, FALSE)) {}
    ~glib_host() override {
        g_main_loop_unref(loop_);
        g_main_context_unref(context_);  // with all its sources
    }

    void watch(int fd, std::function<void()> on_readable) override {
        add(g_unix_fd_source_new(fd, G_IO_IN),
            G_SOURCE_FUNC(+[](gint, GIOCondition, gpointer data) -> gboolean {
                (*static_cast<std::function<void()>*>(data))();
                return G_SOURCE_CONTINUE;
            }),
            std::move(on_readable));
    }
    void after(std::chrono::milliseconds time, std::function<void()> on_time) override {
        add(
            g_timeout_source_new(static_cast<guint>(time.count())),
            +[](gpointer data) -> gboolean {
                (*static_cast<std::function<void()>*>(data))();
                return G_SOURCE_REMOVE;
            },
            std::move(on_time));
    }
    void run() override { g_main_loop_run(loop_); }
    void stop() override { g_main_loop_quit(loop_); }

private:
    void add(GSource* source, GSourceFunc callback, std::function<void()> function) {
        auto* const kept = new std::function<void()>(std::move(function));
        g_source_set_callback(source, callback, kept, [](gpointer data) {
            delete static_cast<std::function<void()>*>(data);
        });
        g_source_attach(source, context_);
        g_source_unref(source);
    }

    GMainContext* context_;
    GMainLoop* loop_;
};

}  // namespace

std::unique_ptr<foreign_host> make_glib_host() { return std::make_unique<glib_host>(); }

}  // namespace eddy::test
